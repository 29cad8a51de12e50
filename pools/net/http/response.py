"""What an agent returns: read whole, or piece by piece while it holds its connection."""

import zlib
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from types import TracebackType
from typing import Any, Self

from pools.logic.errors import ProtocolError, StatusError
from pools.net.http.headers import Headers
from pools.net.http.message import PIECE
from pools.net.http.wire import Head


class BaseResponse:
    """Attributes: `status`, `reason`, `headers`, `url`; `data` is the body if it was read."""

    _source: "Source | AsyncSource"

    def __init__(self, head: Head, url: str, decode: bool) -> None:
        self.status, self.reason, self.headers = head.status, head.reason, head.headers
        self.url = url
        self.history: Sequence[BaseResponse] = ()
        self.is_closed = False
        self._data: bytes | None = None
        self._decoder = _decoder(head.headers) if decode else None

    def begin_stream(self) -> Self:
        self._source.lift_deadline()
        return self

    @property
    def status_code(self) -> int:
        return self.status

    @property
    def is_success(self) -> bool:
        return self.status < 400

    ok = is_success

    @property
    def text(self) -> str:
        return self.data.decode(_charset(self.headers), errors="replace")

    @property
    def data(self) -> bytes:
        if self._data is None:
            raise ProtocolError("the body is streamed: read it with read()")
        return self._data

    @property
    def content(self) -> bytes:
        return self.data

    def json(self) -> Any:
        import json  # it takes long to import, and many programs never read any

        return json.loads(self.data)

    def raise_for_status(self) -> Self:
        """Raise StatusError for 4xx and 5xx."""
        if self.status >= 400:
            raise StatusError(f"{self.status} {self.reason} for {self.url}", response=self)
        return self

    def _decoded(self, data: bytes, is_last: bool = False) -> bytes:
        if self._decoder is None:
            return data
        try:
            return self._decoder.decompress(data) + (self._decoder.flush() if is_last else b"")
        except zlib.error as error:
            raise ProtocolError(f"the body is not {self.headers['content-encoding']}") from error

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.status} {self.reason}>".replace(" >", ">")


class Response(BaseResponse):
    """Close a streamed one, or read it to its end: it holds a connection until then."""

    def __init__(self, head: Head, url: str, decode: bool, source: "Source") -> None:
        super().__init__(head, url, decode)
        self._source: Source = source
        self._unread = b""

    @property
    def data(self) -> bytes:
        return self.read() if self._data is None else self._data

    def read(self, amount: int | None = None) -> bytes:
        """Return the rest, or at most `amount` bytes; nothing means that it is over."""
        if self._data is not None:
            return b"" if amount is not None else self._data
        if amount is None or amount < 0:
            self._data = b"".join(self.stream())
            return self._data
        while len(self._unread) < amount and (piece := self._next()):
            self._unread += piece
        piece, self._unread = self._unread[:amount], self._unread[amount:]
        return piece

    def stream(self, amount: int = PIECE) -> Iterator[bytes]:
        """Yield the body as it comes."""
        if self._unread:
            unread, self._unread = self._unread, b""
            yield unread
        while piece := self._next():
            yield piece

    iter_bytes = stream

    def __iter__(self) -> Iterator[bytes]:
        return self.stream()

    def _next(self) -> bytes:
        while not self.is_closed:
            data = self._source.next()
            if not data:
                self.is_closed = True
                return self._decoded(b"", is_last=True)
            if piece := self._decoded(data):
                return piece
        return b""

    def close(self) -> None:
        """Give the connection up if something is unread."""
        self.is_closed = True
        self._source.close()

    release_conn = close

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class AsyncResponse(BaseResponse):
    """The same for asyncio: `await read()`, `async for piece in stream()`, `await aclose()`."""

    def __init__(self, head: Head, url: str, decode: bool, source: "AsyncSource") -> None:
        super().__init__(head, url, decode)
        self._source: AsyncSource = source

    async def read(self) -> bytes:
        if self._data is None:
            self._data = b"".join([piece async for piece in self.stream()])
        return self._data

    async def stream(self) -> AsyncIterator[bytes]:
        while not self.is_closed:
            data = await self._source.next()
            if not data:
                self.is_closed = True
            if piece := self._decoded(data, is_last=not data):
                yield piece

    aiter_bytes = stream

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self.stream()

    async def aclose(self) -> None:
        self.is_closed = True
        self._source.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()


class Source:
    """Where a body comes from; `next` returns nothing at its end."""

    def next(self) -> bytes:
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError

    def lift_deadline(self) -> None:
        """Let a streamed body take as long as it takes."""
        raise NotImplementedError


class AsyncSource:
    async def next(self) -> bytes:
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError

    def lift_deadline(self) -> None:
        raise NotImplementedError


class _Deflate:
    """Read `deflate` with or without the header of zlib, as servers send both."""

    def __init__(self) -> None:
        self._inner: Any = zlib.decompressobj()
        self._is_new = True

    def decompress(self, data: bytes) -> bytes:
        is_new, self._is_new = self._is_new, self._is_new and not data
        try:
            return bytes(self._inner.decompress(data))
        except zlib.error:
            if not is_new:
                raise
            self._inner = zlib.decompressobj(-zlib.MAX_WBITS)
            return bytes(self._inner.decompress(data))

    def flush(self) -> bytes:
        return bytes(self._inner.flush())


DECODERS: dict[str, Callable[[], Any]] = {
    "gzip": lambda: zlib.decompressobj(16 + zlib.MAX_WBITS),
    "x-gzip": lambda: zlib.decompressobj(16 + zlib.MAX_WBITS),
    "deflate": _Deflate,
}


def _decoder(headers: Headers) -> Any:
    coding = headers.get("content-encoding")
    make = DECODERS.get(coding.strip().lower()) if coding else None
    return None if make is None else make()


def _charset(headers: Headers) -> str:
    kind = headers.get("content-type", "").lower()
    _, found, rest = kind.partition("charset=")
    name = rest.split(";")[0].strip(" \"'") if found else "utf-8"
    try:
        "".encode(name)
    except LookupError:
        return "utf-8"
    return name
