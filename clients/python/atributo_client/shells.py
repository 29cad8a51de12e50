"""The two shells that carry out flows with httpx: one waits, one awaits. Nothing else does I/O."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx

from atributo_client.failures import AtributoError, NoAnswer, Unreachable
from atributo_client.retries import Retries, patient
from atributo_client.steps import Answer, Flow, Pause, Request

T = TypeVar("T")
NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol)


@dataclass(frozen=True)
class Settings:
    """Where the site is, who asks, and how patiently."""

    url: str
    token: str = field(repr=False)
    timeout_seconds: float = 30.0
    retries: Retries = field(default_factory=Retries)
    verify: Any = True

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ValueError(f"the address of the site must be http(s)://host, not {self.url!r}")
        if not self.token or not self.token.isascii() or not self.token.isprintable():
            raise ValueError("the token must be some visible ASCII characters")

    def for_httpx(self) -> dict[str, Any]:
        return {
            "base_url": self.url,
            "headers": {"Authorization": f"Bearer {self.token}", "Accept": "application/json"},
            "timeout": self.timeout_seconds,
            "verify": self.verify,
        }

    def for_stream(self, headers: dict[str, str], params: dict[str, str]) -> dict[str, Any]:
        """A stream is silent for 15 seconds at most."""
        patience = httpx.Timeout(self.timeout_seconds, read=max(45.0, self.timeout_seconds))
        sent = {"Accept": "text/event-stream", **headers}
        return {"url": "/events/stream", "headers": sent, "params": params, "timeout": patience}


class Shell:
    """Carry out flows in this thread; several threads may share one."""

    def __init__(self, settings: Settings, sleep: Callable[[float], Any] = time.sleep) -> None:
        self.settings = settings
        self.sleep = sleep
        self.http = httpx.Client(**settings.for_httpx())

    def run(self, flow: Flow[T], retries: Retries | None = None) -> T:
        steps = patient(flow, retries or self.settings.retries)
        try:
            step = next(steps)
            while True:
                step = steps.send(self._carry_out(step))
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]

    def _carry_out(self, step: Request | Pause) -> Answer | AtributoError | None:
        if isinstance(step, Pause):
            return self.sleep(step.seconds)  # type: ignore[no-any-return]
        try:
            return answer_of(self.http.request(**arguments(step)))
        except httpx.TransportError as error:
            return failure_of(error, self.settings, step.timeout_seconds)

    @contextmanager
    def stream(self, headers: dict[str, str], params: dict[str, str]) -> Iterator[httpx.Response]:
        opened = self.http.stream("GET", **self.settings.for_stream(headers, params))
        with opened as response:
            if response.status_code != 200:
                response.read()
            yield response

    def close(self) -> None:
        self.http.close()


class AsyncShell:
    """Carry out flows in the running event loop."""

    def __init__(self, settings: Settings, sleep: Callable[[float], Any] = asyncio.sleep) -> None:
        self.settings = settings
        self.sleep = sleep
        self.http = httpx.AsyncClient(**settings.for_httpx())

    async def run(self, flow: Flow[T], retries: Retries | None = None) -> T:
        steps = patient(flow, retries or self.settings.retries)
        try:
            step = next(steps)
            while True:
                step = steps.send(await self._carry_out(step))
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]

    async def _carry_out(self, step: Request | Pause) -> Answer | AtributoError | None:
        if isinstance(step, Pause):
            return await self.sleep(step.seconds)  # type: ignore[no-any-return]
        try:
            return answer_of(await self.http.request(**arguments(step)))
        except httpx.TransportError as error:
            return failure_of(error, self.settings, step.timeout_seconds)

    @asynccontextmanager
    async def stream(
        self, headers: dict[str, str], params: dict[str, str]
    ) -> AsyncIterator[httpx.Response]:
        opened = self.http.stream("GET", **self.settings.for_stream(headers, params))
        async with opened as response:
            if response.status_code != 200:
                await response.aread()
            yield response

    async def close(self) -> None:
        await self.http.aclose()


def arguments(request: Request) -> dict[str, Any]:
    default = httpx.USE_CLIENT_DEFAULT
    return {
        "timeout": default if request.timeout_seconds is None else request.timeout_seconds,
        "method": request.method,
        "url": request.path,
        "params": dict(request.params) or None,  # an empty one would take away those of the path
        "content": request.content,
        "headers": dict(request.headers),
    }


def answer_of(response: httpx.Response) -> Answer:
    headers = {name.lower(): value for name, value in response.headers.items()}
    return Answer(response.status_code, headers, response.content)


def failure_of(
    error: Exception, settings: Settings, timeout_seconds: float | None = None
) -> AtributoError:
    """Say in a sentence why there is no answer."""
    seconds = settings.timeout_seconds if timeout_seconds is None else timeout_seconds
    why = str(error) or type(error).__name__
    if isinstance(error, httpx.ReadTimeout | httpx.WriteTimeout):
        words = f"{settings.url} did not answer within {seconds:g} s."
    elif isinstance(error, NOT_SENT):
        words = f"{settings.url} cannot be reached: {why}."
    else:
        words = f"The connection to {settings.url} broke before the answer: {why}."
    failure = Unreachable(words) if isinstance(error, NOT_SENT) else NoAnswer(words)
    failure.__cause__ = error
    return failure
