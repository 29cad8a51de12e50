"""One question over TCP."""

import socket
import struct
from functools import partial

from pools.net.dns.udp import Listener
from pools.net.dns.wire import Question
from pools.net.runtime.driver import Driver


class TCPExchange:
    def __init__(
        self, driver: Driver, address: tuple[int, str, int], question: Question, to: Listener
    ) -> None:
        self._driver = driver
        self._family, *self._address = address
        self._question = question
        self._to = to
        self._unsent = struct.pack("!H", len(question.wire)) + question.wire
        self._received = b""
        self._socket: socket.socket | None = None

    def start(self) -> None:
        try:
            self._socket = socket.socket(self._family, socket.SOCK_STREAM)
            self._socket.setblocking(False)
            self._socket.connect(tuple(self._address))
        except BlockingIOError:  # still connecting
            pass
        except OSError as error:
            self._driver.call_soon(partial(self._to.broke, error))
            return
        self._driver.add_writer(self._socket, self._write)

    def close(self) -> None:
        if self._socket is not None:
            self._driver.remove_writer(self._socket)
            self._driver.remove_reader(self._socket)
            self._socket.close()
            self._socket = None

    def _write(self) -> None:
        assert self._socket is not None
        try:
            sent = self._socket.send(self._unsent)
        except BlockingIOError:
            return
        except OSError as error:
            self._to.broke(error)
            return
        self._unsent = self._unsent[sent:]
        if not self._unsent:
            self._driver.remove_writer(self._socket)
            self._driver.add_reader(self._socket, self._read)

    def _read(self) -> None:
        assert self._socket is not None
        try:
            received = self._socket.recv(65537)
        except BlockingIOError:
            return
        except OSError as error:
            self._to.broke(error)
            return
        self._received += received
        if not received:
            self._to.broke("the nameserver closed the connection")
        elif len(self._received) >= 2:
            self._take()

    def _take(self) -> None:
        length = struct.unpack("!H", self._received[:2])[0]
        wire = self._received[2 : 2 + length]
        if len(wire) < length:
            return
        if not self._question.is_answered_by(wire) or not self._to.received(wire):
            self._to.broke("the nameserver answered something else")
