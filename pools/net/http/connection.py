"""A connection to a backend, how it is opened without blocking, and how it is checked.

The host stays the one of the URL: the Host header, SNI and the certificate are about it.
"""

import errno
import os
import select
import socket
import ssl
from collections.abc import Callable
from functools import partial
from typing import Any

from pools.logic.backends import Backend
from pools.logic.errors import CheckFailedError
from pools.net.http.tls import Tls
from pools.net.http.wire import ResponseParser, request_head
from pools.net.pool.connecting import CheckHandle
from pools.net.runtime.driver import Done, Driver

MOST_PING_BYTES = 64 * 1024
RECEIVE = 64 * 1024
RDHUP = getattr(select, "POLLRDHUP", 0)
STARTED = {0, errno.EINPROGRESS, errno.EWOULDBLOCK}


class Connection:
    """One socket; `served` counts the exchanges, `sock` is None when it is closed."""

    __slots__ = ("__weakref__", "_news", "_timeout", "backend", "served", "sock")
    closes_at_once = True

    def __init__(self, sock: socket.socket, backend: Backend) -> None:
        self.sock: socket.socket | None = sock
        self.backend = backend
        self.served = 0
        self._timeout: float | None = 0.0
        self._news = select.poll()
        is_tls = isinstance(sock, ssl.SSLSocket)
        self._news.register(sock, RDHUP if is_tls else RDHUP | select.POLLIN)

    def limit(self, seconds: float | None) -> socket.socket:
        """Return the socket with a limit for each wait; setting the same again costs nothing."""
        if self.sock is None:
            raise ConnectionResetError("the connection is closed")
        if seconds != self._timeout:
            self.sock.settimeout(seconds)
            self._timeout = seconds
        return self.sock

    def fileno(self) -> int:
        return -1 if self.sock is None else self.sock.fileno()

    def close(self) -> None:
        sock, self.sock = self.sock, None
        if sock is not None:
            sock.close()

    def is_dropped(self) -> bool:
        """Return True if the server closed it, or sent bytes unasked.

        The tickets of a fresh TLS session come unasked, too.
        """
        return self.sock is None or bool(self._news.poll(0))


class Dialer:
    """Open connections for the pool of one host, on the driver's thread and without blocking."""

    def __init__(self, host: str, tls: Tls | None, keep_alive_ms: float | None) -> None:
        self._host = (tls and tls.server_hostname) or host
        self._context = None if tls is None else tls.make_context()
        self._options = socket_options(keep_alive_ms)

    def __call__(self, backend: Backend, timeout_ms: float) -> Connection:
        """Open one and wait for it, where there is no driver."""
        address = (backend.address, backend.port)
        sock: socket.socket = socket.create_connection(address, timeout_ms / 1000.0)
        for option in self._options:
            sock.setsockopt(*option)
        if self._context is not None:
            sock = self._context.wrap_socket(sock, server_hostname=self._host)
        return Connection(sock, backend)

    def begin(
        self, driver: Driver, backend: Backend, timeout_ms: float, done: Done
    ) -> Callable[[], bool]:
        """Return a function that gives the attempt up."""
        dial = Dial(driver, backend, self._context, self._host, done)
        driver.call_soon(partial(dial.start, self._options))
        return dial.give_up


class Dial:
    """One attempt: connect, then shake hands; everything on the driver's thread."""

    def __init__(
        self,
        driver: Driver,
        backend: Backend,
        context: ssl.SSLContext | None,
        host: str,
        done: Done,
    ) -> None:
        self._driver = driver
        self._backend = backend
        self._context = context
        self._host = host
        self._done: Done | None = done
        self._sock: socket.socket | None = None

    def start(self, options: list[tuple[int, int, int]]) -> None:
        if self._done is None:
            return
        family = socket.AF_INET6 if ":" in self._backend.address else socket.AF_INET
        try:
            self._sock = sock = socket.socket(family, socket.SOCK_STREAM)
            sock.setblocking(False)
            for option in options:
                sock.setsockopt(*option)
            number = sock.connect_ex((self._backend.address, self._backend.port))
        except OSError as error:
            self._fail(error)
            return
        if number in STARTED:
            self._driver.add_writer(sock, self._connected)
        else:
            self._fail(OSError(number, os.strerror(number)))

    def give_up(self) -> bool:
        self._done = None
        self._driver.call_soon(self._close)
        return True

    def _connected(self) -> None:
        sock = self._sock
        assert sock is not None
        self._driver.remove_writer(sock)
        number = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if number:
            self._fail(OSError(number, os.strerror(number)))
        elif self._context is None:
            self._finish()
        else:
            self._wrap(self._context, sock)

    def _wrap(self, context: ssl.SSLContext, sock: socket.socket) -> None:
        try:
            self._sock = context.wrap_socket(
                sock, server_hostname=self._host, do_handshake_on_connect=False
            )
        except (OSError, ValueError) as error:
            self._fail(error)
            return
        self._shake_hands()

    def _shake_hands(self) -> None:
        sock = self._sock
        assert isinstance(sock, ssl.SSLSocket)
        self._driver.remove_reader(sock)
        self._driver.remove_writer(sock)
        try:
            sock.do_handshake()
        except ssl.SSLWantReadError:
            self._driver.add_reader(sock, self._shake_hands)
        except ssl.SSLWantWriteError:
            self._driver.add_writer(sock, self._shake_hands)
        except (OSError, ValueError) as error:
            self._fail(error)
        else:
            self._finish()

    def _finish(self) -> None:
        sock, self._sock = self._sock, None
        done, self._done = self._done, None
        assert sock is not None
        if done is None:
            sock.close()
        else:
            done(Connection(sock, self._backend), None)

    def _fail(self, error: Exception) -> None:
        done, self._done = self._done, None
        self._close()
        if done is not None:
            done(None, error)

    def _close(self) -> None:
        sock, self._sock = self._sock, None
        if sock is not None:
            self._driver.remove_reader(sock)
            self._driver.remove_writer(sock)
            sock.close()


def socket_options(keep_alive_ms: float | None) -> list[tuple[int, int, int]]:
    options = [(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)]
    if keep_alive_ms is not None:
        options.append((socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1))
        if hasattr(socket, "TCP_KEEPIDLE"):
            seconds = max(1, round(keep_alive_ms / 1000.0))
            options.append((socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, seconds))
    return options


def ping_head(host_header: str, path: str) -> bytes:
    return request_head("GET", path, [("Host", host_header), ("User-Agent", "pools")])


def ping_checker(
    path: str, limit_ms: float, host_header: str
) -> Callable[[CheckHandle, Connection], None]:
    """Return a checker; the answer must not be 5xx. It follows no redirects."""
    question = ping_head(host_header, path)

    def check(handle: CheckHandle, connection: Connection) -> None:
        sock = connection.limit(limit_ms / 1000.0)
        sock.sendall(question)
        parser, size = ResponseParser("GET"), 0
        while not parser.is_over and size <= MOST_PING_BYTES:
            data = sock.recv(RECEIVE)
            size += len(data)
            if data:
                parser.feed(data)
            else:
                parser.end()
        judge_ping(path, parser, handle)

    return check


def judge_ping(path: str, parser: ResponseParser, handle: Any) -> None:
    """A server that answers well and then closes the connection is well, too."""
    head = parser.head
    if head is None or not parser.is_over:
        handle.close(CheckFailedError(f"{path} answered more than {MOST_PING_BYTES} bytes"))
    elif head.status >= 500:
        handle.close(CheckFailedError(f"{path} answered {head.status}"))
    elif head.keeps and not parser.rest:
        handle.release()
    else:
        handle.expire()
