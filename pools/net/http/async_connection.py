"""A connection of asyncio: bytes come when they come, and a reader waits for them."""

import asyncio
import ssl
from collections.abc import Callable
from typing import Any

from pools.logic.backends import Backend
from pools.logic.errors import ReadTimeoutError, RequestError, WriteTimeoutError
from pools.net.http.connection import judge_ping, ping_head, socket_options
from pools.net.http.tls import Tls
from pools.net.http.wire import ResponseParser

HIGH_WATER = 256 * 1024


class AsyncConnection(asyncio.Protocol):
    """Hand what comes to the parser of the exchange; `served` counts the exchanges."""

    closes_at_once = True

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.served = 0
        self.parser: ResponseParser | None = None
        self.error: Exception | None = None
        self.is_closed = False
        self._loop = asyncio.get_running_loop()
        self._transport: Any = None
        self._waiter: asyncio.Future[None] | None = None
        self._drained: asyncio.Future[None] | None = None
        self._is_paused = False
        self._unread = 0
        self._limit: asyncio.TimerHandle | None = None

    # -- called by the loop ------------------------------------------------------------------

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        parser = self.parser
        if parser is None:  # unasked
            self.error = self.error or RequestError("the server sent something unasked")
            self.close()
            return
        try:
            parser.feed(data)
        except RequestError as error:
            self._fail(error)
            return
        self._unread += len(data)
        if self._unread > HIGH_WATER and not self._is_paused:
            self._is_paused = True
            self._transport.pause_reading()
        self._wake()

    def eof_received(self) -> bool:
        return False

    def connection_lost(self, error: Exception | None) -> None:
        self.is_closed = True
        if self.error is None and self.parser is not None:
            self._end(error)
        self._wake()
        if self._drained is not None and not self._drained.done():
            self._drained.set_result(None)

    def _end(self, error: Exception | None) -> None:
        assert self.parser is not None
        if error is not None or not self.parser.has_begun:
            self.error = error or ConnectionResetError("it closed the connection without an answer")
            return
        try:
            self.parser.end()
        except RequestError as broken:
            self.error = broken

    def pause_writing(self) -> None:
        self._drained = self._loop.create_future()

    def resume_writing(self) -> None:
        if self._drained is not None and not self._drained.done():
            self._drained.set_result(None)
        self._drained = None

    # -- called by the exchange --------------------------------------------------------------

    def begin(self, method: str) -> ResponseParser:
        self.parser = parser = ResponseParser(method)
        self._unread = 0
        return parser

    def write(self, data: bytes) -> None:
        if self.is_closed:
            raise ConnectionResetError("the connection is closed")
        self._transport.write(data)

    async def drain(self, seconds: float | None) -> None:
        if self._drained is not None:
            try:
                await asyncio.wait_for(self._drained, seconds)
            except TimeoutError as error:
                raise WriteTimeoutError("the server did not take the request in time") from error

    async def receive(self, seconds: float | None) -> None:
        """Wait until more has come, or the connection has ended."""
        self._unread = 0
        if self._is_paused:
            self._is_paused = False
            self._transport.resume_reading()
        if self.is_closed or self.error is not None:
            self._raise()
        self._waiter = self._loop.create_future()
        if seconds is not None:
            self._limit = self._loop.call_later(seconds, self._too_late)
        try:
            await self._waiter
        finally:
            self._waiter = None
            if self._limit is not None:
                self._limit.cancel()
                self._limit = None
        if self.error is not None:
            self._raise()

    def _raise(self) -> None:
        raise self.error or ConnectionResetError("the connection is closed")

    def _too_late(self) -> None:
        self._fail(ReadTimeoutError("the server was silent for too long"))

    def _fail(self, error: Exception) -> None:
        self.error = self.error or error
        self.close()
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def end(self) -> None:
        self.parser = None

    def is_dropped(self) -> bool:
        return self.is_closed or self._transport.is_closing()

    def get_extra_info(self, name: str) -> Any:
        return self._transport.get_extra_info(name)

    def close(self) -> None:
        if self._transport is not None and not self.is_closed:
            self._transport.abort()


class AsyncDialer:
    """Open connections for the pool of one host."""

    def __init__(self, host: str, tls: Tls | None, keep_alive_ms: float | None) -> None:
        self._host = (tls and tls.server_hostname) or host
        self._context: ssl.SSLContext | None = None if tls is None else tls.make_context()
        self._options = socket_options(keep_alive_ms)

    async def __call__(self, backend: Backend) -> AsyncConnection:
        loop = asyncio.get_running_loop()
        tls: dict[str, Any] = {}
        if self._context is not None:
            tls = {"ssl": self._context, "server_hostname": self._host}
        transport, connection = await loop.create_connection(
            lambda: AsyncConnection(backend), backend.address, backend.port, **tls
        )
        sock = transport.get_extra_info("socket")
        for option in self._options:
            sock.setsockopt(*option)
        return connection


def async_ping_checker(
    path: str, limit_ms: float, host_header: str
) -> Callable[[Any, AsyncConnection], Any]:
    question = ping_head(host_header, path)

    async def check(handle: Any, connection: AsyncConnection) -> None:
        parser = connection.begin("GET")
        connection.write(question)
        size = 0
        while not parser.is_over and size <= HIGH_WATER:
            await connection.receive(limit_ms / 1000.0)
            size += sum(map(len, parser.body))
            parser.body = []
        connection.end()
        judge_ping(path, parser, handle)

    return check
