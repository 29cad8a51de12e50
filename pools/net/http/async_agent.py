"""The agents for asyncio, over the same pools, resolvers and messages."""

import asyncio
import time
from collections.abc import AsyncIterator
from types import TracebackType
from typing import Any, Self, Unpack

from pools.logic.errors import (
    ClaimTimeoutError,
    PoolsError,
    PoolStoppingError,
    ReadTimeoutError,
    RequestError,
    TooManyRedirects,
)
from pools.logic.numbers import check_count
from pools.net.http.agent import (
    FIRST_DELAY,
    IDEMPOTENT,
    MOST_DELAY,
    WORTH_ANOTHER_TRY,
    _Call,
)
from pools.net.http.async_connection import AsyncConnection, AsyncDialer, async_ping_checker
from pools.net.http.headers import Pairs
from pools.net.http.host_pools import HostPools
from pools.net.http.lease import FAILING, Deadline, Disconnected, verdict_of
from pools.net.http.message import (
    REDIRECTS,
    Address,
    AsyncRequestOptions,
    Prepared,
    Timeout,
    frame,
    is_chunked,
    may_repeat,
    pieces,
    prepare,
    redirected,
    timeout_of,
)
from pools.net.http.response import AsyncResponse, AsyncSource
from pools.net.http.tls import Tls
from pools.net.http.wire import request_head
from pools.net.pool.asyncio import AsyncClaim, AsyncConnectionPool, asyncio_driver
from pools.net.pool.shell import DRAIN_MS


class AsyncHttpAgent(HostPools[AsyncConnectionPool]):
    """Use it on one event loop; the options are those of HttpAgent."""

    _other: "AsyncHttpAgent | None" = None

    async def request(
        self,
        method: str,
        url: str,
        body: Any = None,
        headers: Pairs = None,
        *,
        params: Any = None,
        data: Any = None,
        json: Any = None,
        timeout: float | Timeout | None = None,
        claim_timeout: float | None = None,
        stream: bool = False,
        decode_content: bool = True,
        redirects: int = 0,
        retries: int = 0,
        tls: Tls | None = None,
    ) -> AsyncResponse:
        """Make a request and return its answer, read whole unless `stream` is set."""
        limits = timeout_of(timeout, self._timeout)
        request = prepare(
            method, url, headers=headers, params=params, body=body, data=data, json_value=json
        )
        check_count("redirects", redirects)
        call = _Call(limits, claim_timeout, decode_content, tls, retries)
        response, history = await self._once(request, call, url), []
        for _ in range(redirects):
            location = response.headers.get("location")
            if response.status not in REDIRECTS or location is None:
                break
            await response.read()
            history.append(response)
            request, url = redirected(request, response.status, location)
            response = await self._for(request.address)._once(request, call, url)
        else:
            if redirects and response.status in REDIRECTS and "location" in response.headers:
                await response.aclose()
                raise TooManyRedirects(f"more than {redirects} redirects, the last to {url}")
        response.history = list(history)
        if stream:
            return response.begin_stream()
        await response.read()
        return response

    async def get(self, url: str, **options: Unpack[AsyncRequestOptions]) -> AsyncResponse:
        return await self.request("GET", url, **options)

    async def head(self, url: str, **options: Unpack[AsyncRequestOptions]) -> AsyncResponse:
        return await self.request("HEAD", url, **options)

    async def post(self, url: str, **options: Unpack[AsyncRequestOptions]) -> AsyncResponse:
        return await self.request("POST", url, **options)

    async def put(self, url: str, **options: Unpack[AsyncRequestOptions]) -> AsyncResponse:
        return await self.request("PUT", url, **options)

    async def patch(self, url: str, **options: Unpack[AsyncRequestOptions]) -> AsyncResponse:
        return await self.request("PATCH", url, **options)

    async def delete(self, url: str, **options: Unpack[AsyncRequestOptions]) -> AsyncResponse:
        return await self.request("DELETE", url, **options)

    async def _once(self, request: Prepared, call: _Call, url: str) -> AsyncResponse:
        is_safe = request.method in IDEMPOTENT
        retries = call.retries if is_safe else 0
        for attempt in range(retries + 1):
            is_last = attempt == retries or not may_repeat(request)
            try:
                response = await self._attempt(request, call, url, is_safe)
            except (RequestError, ClaimTimeoutError):
                call.deadline.limit(None)
                if is_last:
                    raise
            else:
                if is_last or response.status not in WORTH_ANOTHER_TRY:
                    return response
                await response.aclose()
            await asyncio.sleep(call.deadline.limit(min(FIRST_DELAY * 2**attempt, MOST_DELAY)) or 0)
        raise AssertionError("the last attempt returns or raises")

    async def _attempt(
        self, request: Prepared, call: _Call, url: str, is_safe: bool
    ) -> AsyncResponse:
        while True:
            pool = self.pool_for(request.address, call.tls)
            try:
                lease = await self._take_lease(pool, call)
            except PoolStoppingError:  # nobody had used it for long
                self._check_running()
                if self._pools.get(self._key(*request.address[1:3], call.tls or self._tls)) is pool:
                    raise
                continue
            try:
                return await lease.exchange(request, call.timeout, call.deadline, call.decode, url)
            except Disconnected:
                if not is_safe or not may_repeat(request):
                    raise

    async def _take_lease(self, pool: AsyncConnectionPool, call: _Call) -> "AsyncLease":
        until = None
        if self._options.get("target_claim_delay") is None:
            given = self._claim_timeout if call.claim_timeout is None else call.claim_timeout
            seconds = call.deadline.limit(call.timeout.connect if given is None else given / 1000.0)
            until = None if seconds is None else time.monotonic() + seconds
        while True:
            left = None if until is None else max(0.0, until - time.monotonic()) * 1000.0
            claim = pool.claim(left, self._error_on_empty)
            connection = await claim.wait()
            if not connection.is_dropped():
                return AsyncLease(claim, connection)
            claim.close_unused()

    def _for(self, address: Address) -> "AsyncHttpAgent":
        if address.scheme == self.scheme or address.scheme not in KINDS:
            return self
        if self._other is None:
            self._other = self.clone(KINDS[address.scheme])
        return self._other

    def _driver(self) -> Any:
        return self._given_driver or asyncio_driver()

    def _make_pool(self, host: str, port: int, tls: Tls, **options: Any) -> AsyncConnectionPool:
        dialer = AsyncDialer(host, tls if self.scheme == "https" else None, self.keep_alive_ms)
        if self._ping is not None:
            path, interval, limit = self._ping
            name = Address(self.scheme, host, None if port == self.port else port, path).host_header
            options |= {"checker": async_ping_checker(path, limit, name)}
            options |= {"check_timeout": interval, "check_limit": limit}
        return AsyncConnectionPool(constructor=dialer, **options)

    # -- the end -----------------------------------------------------------------------------

    def stop(self, drain: float | None = DRAIN_MS) -> None:
        super().stop(drain)
        if self._other is not None:
            self._other.stop(drain)

    async def wait_stopped(self, timeout: float | None = None) -> None:
        """Wait until every pool is stopped, each for at most `timeout` milliseconds."""
        for pool in list(self._pools.values()):
            await pool.until("stopped", timeout=timeout)
        if self._other is not None:
            await self._other.wait_stopped(timeout)

    def close(self) -> None:
        """Stop at once, without waiting for the end; twice is no error."""
        if not self._is_stopped:
            self.stop(drain=0)

    async def aclose(self, timeout: float | None = None) -> None:
        """Stop at once and wait for the end, at most `timeout` seconds; twice is no error."""
        self.close()
        await self.wait_stopped(None if timeout is None else timeout * 1000.0)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()


class AsyncHttpsAgent(AsyncHttpAgent):
    """Check the certificate against the host of the URL, whatever backend serves it."""

    scheme = "https"
    port = 443


KINDS = {"http": AsyncHttpAgent, "https": AsyncHttpsAgent}


class AsyncLease(AsyncSource):
    """End exactly once: give the connection back, or close it when it cannot be used again."""

    def __init__(self, claim: AsyncClaim, connection: AsyncConnection) -> None:
        self._claim: AsyncClaim | None = claim
        self.connection = connection
        self.is_used = connection.served > 0
        connection.served += 1

    async def exchange(
        self, request: Prepared, timeout: Timeout, deadline: Deadline, decode: bool, url: str
    ) -> AsyncResponse:
        self._parser = parser = self.connection.begin(request.method)
        self._timeout, self._deadline = timeout, deadline
        try:
            await self._send(request)
            while parser.head is None:
                await self._receive()
        except BaseException as error:  # a task that is cancelled leaves it half read, too
            self.break_off(error)
            raise
        return AsyncResponse(parser.head, url, decode, self)

    async def _send(self, request: Prepared) -> None:
        head = request_head(request.method, request.address.target, request.headers)
        try:
            if isinstance(request.body, bytes) or request.body is None:
                self.connection.write(head + (request.body or b""))
            else:
                self.connection.write(head)
                async for piece in _pieces(request):
                    self.connection.write(piece)
                    await self.connection.drain(self._deadline.limit(self._timeout.write))
        except (BrokenPipeError, ConnectionResetError) as error:
            if not self._parser.has_begun:
                raise self._broken(error) from error

    async def _receive(self) -> None:
        try:
            await self.connection.receive(self._deadline.limit(self._timeout.read))
        except ReadTimeoutError as error:
            self._deadline.limit(None)  # perhaps the whole time is over
            raise ReadTimeoutError(f"{self} was silent for too long") from error
        except PoolsError:
            raise
        except OSError as error:
            raise self._broken(error) from error

    def _broken(self, reason: object) -> RequestError:
        text = f"the exchange with {self} broke off: {reason}"
        backend = self.connection.backend
        if self.is_used and not self._parser.has_begun:
            return Disconnected(text, backend=backend)
        return RequestError(text, backend=backend)

    async def next(self) -> bytes:
        parser = self._parser
        try:
            while not parser.body and not parser.is_over:
                await self._receive()
        except BaseException as error:
            self.break_off(error)
            raise
        data, parser.body = b"".join(parser.body), []
        if parser.is_over:
            self.end()
        return data

    def close(self) -> None:
        if self._parser.is_over:
            self.end()
        else:
            self.break_off()

    def end(self) -> None:
        claim, self._claim = self._claim, None
        if claim is None:
            return
        self.connection.end()
        head = self._parser.head
        ok = head is not None and head.status < FAILING
        if head is not None and head.keeps and not self._parser.rest:
            claim.release(ok)
        else:
            claim.close(ok, is_open=True)

    def break_off(self, error: BaseException | None = None) -> None:
        """Give the connection up; after a time-out it was not the server that closed it."""
        claim, self._claim = self._claim, None
        if claim is not None:
            self.connection.end()
            claim.close(verdict_of(error), is_open=isinstance(error, TimeoutError))

    def lift_deadline(self) -> None:
        self._deadline = Deadline(None)

    def __del__(self) -> None:
        """Give the connection up for a response that nobody has any more."""
        claim = getattr(self, "_claim", None)
        if claim is not None:
            claim.abandon()

    def __str__(self) -> str:
        return self.connection.backend.where


async def _pieces(request: Prepared) -> AsyncIterator[bytes]:
    if not hasattr(request.body, "__aiter__"):
        for piece in pieces(request):
            yield piece
        return
    chunked = is_chunked(request)
    async for data in request.body:
        if data:
            yield frame(data) if chunked else data
    if chunked:
        yield b"0\r\n\r\n"
