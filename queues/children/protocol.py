"""Lines between a worker and its child on a socket: one JSON object each."""

import socket
from collections import deque
from json import dumps
from select import select
from socket import MSG_DONTWAIT
from time import monotonic
from typing import Any

CHUNK = 1 << 16


class ChildGone(Exception):
    """The other side has closed."""


class NeverRead(ChildGone):
    """The other side has closed before it has read all that we sent."""


class LineTooLong(Exception):
    """A line that does not end within the allowed size."""


class Wire:
    def __init__(self, sock: socket.socket, longest: int | None = None) -> None:
        self.sock = sock
        self._longest = longest
        self._begun: list[bytes] = []  # parts of a line whose end has not come
        self._size = 0
        self._lines: deque[bytes] = deque()

    def send(self, message: dict[str, Any]) -> None:
        self.send_text(dumps(message))

    def send_text(self, text: str) -> None:
        try:
            self.sock.sendall(text.encode() + b"\n")
        except OSError as error:
            raise ChildGone from error

    def send_and_read(self, message: dict[str, Any]) -> None:
        """Send, and read meanwhile: the other side may wait for us to read before it reads."""
        left = memoryview(dumps(message).encode() + b"\n")
        while left:
            readable, writable, _ = select([self.sock], [self.sock], [])
            if readable:
                self._read()
            if writable:
                left = left[self._sent(left) :]

    def _sent(self, data: memoryview) -> int:
        try:
            return self.sock.send(data, MSG_DONTWAIT)
        except BlockingIOError:
            return 0
        except OSError as error:
            raise ChildGone from error

    def receive(self, timeout: float | None = None) -> bytes | None:
        """Return the next line, or None after `timeout` seconds without one."""
        give_up = None if timeout is None else monotonic() + timeout
        while not self._lines:
            left = None if give_up is None else max(0.0, give_up - monotonic())
            if not select([self.sock], [], [], left)[0]:
                return None
            self._read()
        return self._lines.popleft()

    def has_line(self) -> bool:
        """Return whether a line is here already, so that nothing need be read for it."""
        return bool(self._lines)

    def close(self) -> None:
        self.sock.close()

    def _read(self) -> None:
        try:
            chunk = self.sock.recv(CHUNK)
        except ConnectionResetError as error:
            raise NeverRead from error
        except OSError as error:
            raise ChildGone from error
        if not chunk:
            raise ChildGone
        first, *others = chunk.split(b"\n")
        self._begin(first)
        for other in others:
            self._lines.append(b"".join(self._begun))
            self._begun, self._size = [], 0
            self._begin(other)

    def _begin(self, part: bytes) -> None:
        self._begun.append(part)
        self._size += len(part)
        if self._longest is not None and self._size > self._longest:
            raise LineTooLong(f"a line of more than {self._longest} bytes")
