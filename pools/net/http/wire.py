"""HTTP/1.1 as bytes: write requests, read responses. No sockets and no clock."""

import re
from typing import NamedTuple

from pools.logic.errors import ProtocolError
from pools.net.http.headers import Headers

MOST_HEAD = 64 * 1024
STATUS_LINE = re.compile(r"HTTP/1\.([01]) ([1-9][0-9]{2})(?: ([^\r\n]*))?\Z")
CHUNK_SIZE = re.compile(rb"[ \t]*([0-9a-fA-F]{1,16})[ \t]*(?:;[^\r\n]*)?\Z")
NUMBER = re.compile(r"[0-9]{1,18}\Z")
BODILESS = {204, 304}
SWITCHING = 101


class Head(NamedTuple):
    status: int
    reason: str
    headers: Headers
    keeps: bool
    framing: int  # the length of the body, or one of the two below


CHUNKED, UNTIL_CLOSE = -1, -2


class ResponseParser:
    """Feed it what came; `head` is set when the head is whole, `is_over` at the end of the body."""

    __slots__ = ("_buffer", "_in_chunk", "_left", "_method", "body", "head", "is_over", "rest")

    def __init__(self, method: str) -> None:
        self.head: Head | None = None
        self.body: list[bytes] = []
        self.is_over = False
        self.rest = b""
        self._method = method
        self._buffer = b""
        self._left = 0
        self._in_chunk = False

    @property
    def has_begun(self) -> bool:
        return self.head is not None or bool(self._buffer)

    def feed(self, data: bytes) -> None:
        """Take the next bytes; raise ProtocolError for what is no HTTP."""
        if self.head is None:
            data = self._read_head(self._buffer + data if self._buffer else data)
            if self.head is None:
                return
        if data:
            self._read_body(data)

    def end(self) -> None:
        """Note that the server closed the connection."""
        if self.head is None:
            raise ProtocolError("the server closed the connection in the middle of its head")
        if self.head.framing == UNTIL_CLOSE:
            self.is_over = True
        elif not self.is_over:
            raise ProtocolError("the server closed the connection before the end of its answer")

    # -- the head ----------------------------------------------------------------------------

    def _read_head(self, data: bytes) -> bytes:
        """Return what follows the head; informational answers such as 103 are left out."""
        while True:
            end = data.find(b"\r\n\r\n")
            if end < 0:
                if len(data) > MOST_HEAD:
                    raise ProtocolError(f"the head of the answer exceeds {MOST_HEAD} bytes")
                self._buffer = data
                return b""
            head = parse_head(data[:end], self._method)
            data, self._buffer = data[end + 4 :], b""
            if head.status >= 200 or head.status == SWITCHING:
                self.head, self._left = head, max(head.framing, 0)
                self.is_over = head.framing == 0
                if self.is_over:
                    self.rest, data = data, b""
                return data

    # -- the body ----------------------------------------------------------------------------

    def _read_body(self, data: bytes) -> None:
        assert self.head is not None
        framing = self.head.framing
        if self.is_over:
            self.rest += data
        elif framing == CHUNKED:
            self._read_chunks(self._buffer + data if self._buffer else data)
        elif framing == UNTIL_CLOSE:
            self.body.append(data)
        elif len(data) <= self._left:
            self.body.append(data)
            self._left -= len(data)
            self.is_over = self._left == 0
        else:
            self.body.append(data[: self._left])
            self.rest, self._left, self.is_over = data[self._left :], 0, True

    def _read_chunks(self, data: bytes) -> None:
        while data:
            if self._left:
                piece = data[: self._left]
                self.body.append(piece)
                self._left -= len(piece)
                data = data[len(piece) :]
                continue
            line, found, following = data.partition(b"\r\n")
            if not found:
                if len(data) > MOST_HEAD:
                    raise ProtocolError("a chunk of the answer has no size")
                break
            data = following
            if self._in_chunk:  # the line break after the data of a chunk
                if line:
                    raise ProtocolError("a chunk of the answer is longer than it says")
                self._in_chunk = False
            elif not self._begin_chunk(line, data):
                data = line + b"\r\n" + data
                break
            elif self.is_over:
                return
        self._buffer = data

    def _begin_chunk(self, line: bytes, following: bytes) -> bool:
        """Take the size of a chunk; return False to wait for more of the trailer."""
        size = CHUNK_SIZE.match(line)
        if size is None:
            raise ProtocolError(f"not the size of a chunk: {line[:40]!r}")
        self._left = int(size[1], 16)
        self._in_chunk = self._left > 0
        if self._left:
            return True
        if following.startswith(b"\r\n"):
            self.rest, self.is_over = following[2:], True
            return True
        end = following.find(b"\r\n\r\n")
        if end < 0 and len(following) > MOST_HEAD:
            raise ProtocolError("the trailer of the answer does not end")
        if end >= 0:
            self.rest, self.is_over = following[end + 4 :], True
        return end >= 0


def parse_head(data: bytes, method: str) -> Head:
    first, *lines = data.decode("latin-1").split("\r\n")
    match = STATUS_LINE.match(first)
    if match is None:
        raise ProtocolError(f"not a status line of HTTP/1.1: {first[:80]!r}")
    minor, status, reason = match.groups()
    pairs = [_header(line) for line in lines]
    known = {name.lower(): value for name, value in pairs}
    tokens = known.get("connection", "").lower()
    keeps = "close" not in tokens and (minor == "1" or "keep-alive" in tokens)
    framing = _framing(int(status), method, pairs, known)
    return Head(int(status), reason or "", Headers(pairs), keeps and framing >= -1, framing)


def _header(line: str) -> tuple[str, str]:
    name, colon, value = line.partition(":")
    if not colon or not name or name != name.strip():
        raise ProtocolError(f"not a header: {line[:80]!r}")
    return name, value.strip(" \t")


def _framing(status: int, method: str, pairs: list[tuple[str, str]], known: dict[str, str]) -> int:
    if method == "HEAD" or status < 200 or status in BODILESS:
        return UNTIL_CLOSE if status == SWITCHING else 0
    coding = known.get("transfer-encoding")
    if coding is not None:
        return CHUNKED if coding.lower().split(",")[-1].strip() == "chunked" else UNTIL_CLOSE
    if "content-length" not in known:
        return UNTIL_CLOSE
    given = [value for name, value in pairs if name.lower() == "content-length"]
    lengths = {length.strip() for length in ",".join(given).split(",")}
    length = lengths.pop()
    if lengths or not NUMBER.match(length):
        raise ProtocolError(f"not a length: {known['content-length'][:40]!r}")
    return int(length)


def request_head(method: str, target: str, headers: list[tuple[str, str]]) -> bytes:
    lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in headers)]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
