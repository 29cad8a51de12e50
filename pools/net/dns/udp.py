"""Exchange one datagram for another."""

import socket
from functools import partial
from typing import Protocol

from pools.net.dns.wire import Question, is_truncated
from pools.net.runtime.driver import Driver

MAX_DATAGRAM = 65535


class Listener(Protocol):
    def received(self, wire: bytes) -> bool: ...
    def truncated(self) -> None: ...
    def broke(self, error: OSError | str) -> None: ...


class UDPExchange:
    """Connect the socket, so that the kernel drops what comes from any other address."""

    def __init__(
        self, driver: Driver, address: tuple[int, str, int], question: Question, to: Listener
    ) -> None:
        self._driver = driver
        self._family, *self._address = address
        self._question = question
        self._to = to
        self._socket: socket.socket | None = None

    def start(self) -> None:
        try:
            self._socket = socket.socket(self._family, socket.SOCK_DGRAM)
            self._socket.setblocking(False)
            self._socket.connect(tuple(self._address))
            self._socket.send(self._question.wire)
        except OSError as error:
            self._driver.call_soon(partial(self._to.broke, error))
            return
        self._driver.add_reader(self._socket, self._read)

    def close(self) -> None:
        if self._socket is not None:
            self._driver.remove_reader(self._socket)
            self._socket.close()
            self._socket = None

    def _read(self) -> None:
        """Read what has come and ignore whatever is not our answer."""
        while self._socket is not None:
            try:
                wire = self._socket.recv(MAX_DATAGRAM)
            except BlockingIOError:
                return
            except OSError as error:
                self._to.broke(error)
                return
            self._take(wire)

    def _take(self, wire: bytes) -> None:
        if not self._question.is_answered_by(wire):
            return
        if is_truncated(wire):
            self.close()
            self._to.truncated()
        else:
            self._to.received(wire)
