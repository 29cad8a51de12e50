"""Messages between a worker and its child: one JSON object per line on a socket."""

import json
import select
import socket
import time
from typing import Any

CHUNK = 1 << 16


class ChildGone(Exception):
    """The other side has closed, or talks nonsense."""


class Wire:
    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self._begun: list[bytes] = []  # parts of a line whose end has not come
        self._lines: list[bytes] = []

    def send(self, message: dict[str, Any]) -> None:
        self.send_text(json.dumps(message))

    def send_text(self, text: str) -> None:
        try:
            self.sock.sendall(text.encode() + b"\n")
        except OSError as error:
            raise ChildGone from error

    def receive(self, timeout: float | None = None) -> dict[str, Any] | None:
        """The next message, or None after `timeout` seconds without one."""
        give_up = None if timeout is None else time.monotonic() + timeout
        while not self._lines:
            left = None if give_up is None else max(0.0, give_up - time.monotonic())
            if not select.select([self.sock], [], [], left)[0]:
                return None
            self._read()
        return self._first()

    def close(self) -> None:
        self.sock.close()

    def _first(self) -> dict[str, Any]:
        try:
            return json.loads(self._lines.pop(0))
        except ValueError as error:
            raise ChildGone from error

    def _read(self) -> None:
        try:
            chunk = self.sock.recv(CHUNK)
        except OSError as error:
            raise ChildGone from error
        if not chunk:
            raise ChildGone
        first, *others = chunk.split(b"\n")
        self._begun.append(first)
        for other in others:
            self._lines.append(b"".join(self._begun))
            self._begun = [other]
