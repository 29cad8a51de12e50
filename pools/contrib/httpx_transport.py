"""Let `httpx` use agents: httpx.Client(transport=AgentTransport()), and the same for asyncio."""

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from pools.logic.errors import (
    BackendConnectionError,
    ClaimTimeoutError,
    ConnectionTimeoutError,
    InvalidInput,
    PoolsError,
    ProtocolError,
    ReadTimeoutError,
    WriteTimeoutError,
)
from pools.net.http.agent import HttpAgent, HttpsAgent
from pools.net.http.async_agent import AsyncHttpAgent, AsyncHttpsAgent
from pools.net.http.message import Timeout
from pools.net.http.response import AsyncResponse, Response

KINDS: list[tuple[type[PoolsError], type[httpx.TransportError]]] = [
    (InvalidInput, httpx.UnsupportedProtocol),
    (ClaimTimeoutError, httpx.PoolTimeout),
    (ReadTimeoutError, httpx.ReadTimeout),
    (WriteTimeoutError, httpx.WriteTimeout),
    (ProtocolError, httpx.RemoteProtocolError),
]


class AgentTransport(httpx.BaseTransport):
    """Take the agents, or the options of those that it makes and stops itself."""

    def __init__(
        self, http: HttpAgent | None = None, https: HttpsAgent | None = None, **options: Any
    ) -> None:
        self._agents = {
            "http": http or HttpAgent(**options),
            "https": https or HttpsAgent(**options),
        }
        given = {id(http), id(https)}
        self._own = [agent for agent in self._agents.values() if id(agent) not in given]

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        agent = self._agents[_scheme(request)]
        with _translated(request):
            answer = agent.request(
                request.method,
                str(request.url),
                body=_body(request, request.stream),
                headers=_headers(request),
                timeout=_limits(request),
                stream=True,
                decode_content=False,
            )
        return httpx.Response(
            answer.status, headers=answer.headers.multi_items(), stream=_Body(answer, request)
        )

    def close(self) -> None:
        for agent in self._own:
            agent.close()


class AsyncAgentTransport(httpx.AsyncBaseTransport):
    """Take agents for asyncio, or the options of those that it makes and stops itself."""

    def __init__(
        self,
        http: AsyncHttpAgent | None = None,
        https: AsyncHttpsAgent | None = None,
        **options: Any,
    ) -> None:
        self._agents = {
            "http": http or AsyncHttpAgent(**options),
            "https": https or AsyncHttpsAgent(**options),
        }
        given = {id(http), id(https)}
        self._own = [agent for agent in self._agents.values() if id(agent) not in given]

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        agent = self._agents[_scheme(request)]
        with _translated(request):
            answer = await agent.request(
                request.method,
                str(request.url),
                body=_body(request, request.stream),
                headers=_headers(request),
                timeout=_limits(request),
                stream=True,
                decode_content=False,
            )
        return httpx.Response(
            answer.status, headers=answer.headers.multi_items(), stream=_AsyncBody(answer, request)
        )

    async def aclose(self) -> None:
        for agent in self._own:
            await agent.aclose()


class _Body(httpx.SyncByteStream):
    def __init__(self, answer: Response, request: httpx.Request) -> None:
        self._answer = answer
        self._request = request

    def __iter__(self) -> Iterator[bytes]:
        with _translated(self._request):
            yield from self._answer.stream()

    def close(self) -> None:
        self._answer.close()


class _AsyncBody(httpx.AsyncByteStream):
    def __init__(self, answer: AsyncResponse, request: httpx.Request) -> None:
        self._answer = answer
        self._request = request

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _translated(self._request):
            async for piece in self._answer.stream():
                yield piece

    async def aclose(self) -> None:
        await self._answer.aclose()


def _scheme(request: httpx.Request) -> str:
    if request.url.scheme not in ("http", "https"):
        raise httpx.UnsupportedProtocol(f"neither http nor https: {request.url}", request=request)
    return request.url.scheme


def _headers(request: httpx.Request) -> list[tuple[str, str]]:
    return [(n.decode("latin-1"), v.decode("latin-1")) for n, v in request.headers.raw]


def _body(request: httpx.Request, stream: Any) -> Any:
    """Send what is known whole at once, so that it can be sent again."""
    try:
        return request.content or None
    except httpx.RequestNotRead:
        return stream


def _limits(request: httpx.Request) -> Timeout:
    given = request.extensions.get("timeout", {})
    connect, pool = given.get("connect"), given.get("pool")
    waits = [each for each in (connect, pool) if each is not None]
    longest = max(waits) if len(waits) == 2 else None
    return Timeout(longest, given.get("read"), given.get("write"), None)


@contextmanager
def _translated(request: httpx.Request) -> Iterator[None]:
    """Raise the errors of `httpx`, which programs that use it expect."""
    try:
        yield
    except PoolsError as error:
        raise _kind(error)(str(error), request=request) from error


def _kind(error: PoolsError) -> type[httpx.TransportError]:
    cause = error.__cause__
    if isinstance(error, ClaimTimeoutError) and isinstance(cause, BackendConnectionError):
        is_late = isinstance(cause, ConnectionTimeoutError)  # the pool has no connection at all
        return httpx.ConnectTimeout if is_late else httpx.ConnectError
    default = httpx.ReadError if isinstance(error, OSError) else httpx.ConnectError
    return next((theirs for ours, theirs in KINDS if isinstance(error, ours)), default)
