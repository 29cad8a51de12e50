"""Make urllib3 connect to a given backend, and check idle connections with a GET.

The host stays the one of the URL: the Host header, SNI and the certificate are about it. The answer
to the check must not be 5xx.
"""

import socket
import ssl
from collections.abc import Callable
from typing import Any

from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.util.connection import create_connection

from pools.logic.backends import Backend
from pools.logic.errors import CheckFailedError
from pools.net.http.tls import Tls
from pools.net.pool.connecting import CheckHandle

MOST_BYTES = 64 * 1024


class BackendHTTPConnection(HTTPConnection):
    backend: Backend
    served = 0

    def _new_conn(self) -> socket.socket:
        return connect(self, self.backend)


class BackendHTTPSConnection(HTTPSConnection):
    backend: Backend
    served = 0

    def _new_conn(self) -> socket.socket:
        return connect(self, self.backend)


HTTPBackendConnection = BackendHTTPConnection | BackendHTTPSConnection


def connect(connection: HTTPConnection, backend: Backend) -> socket.socket:
    return create_connection(
        (backend.address, backend.port),
        connection.timeout,
        socket_options=connection.socket_options,
    )


def connection_maker(
    scheme: str, host: str, port: int, tls: Tls, keep_alive_ms: float | None
) -> Callable[..., HTTPBackendConnection]:
    """Return a constructor for the pool of one host."""
    options: dict[str, Any] = {"socket_options": socket_options(keep_alive_ms)}
    kind: type[HTTPBackendConnection] = BackendHTTPConnection
    if scheme == "https":
        kind = BackendHTTPSConnection
        options["ssl_context"] = tls.make_context()
        options["server_hostname"] = tls.server_hostname or host
        options["cert_reqs"] = ssl.CERT_REQUIRED if tls.verify else ssl.CERT_NONE
        options["assert_hostname"] = None if tls.verify else False

    def construct(backend: Backend, timeout_ms: float) -> HTTPBackendConnection:
        connection = kind(host, port, timeout=timeout_ms / 1000.0, **options)
        connection.backend = backend
        try:
            connection.connect()
        except BaseException:  # whatever it was, the socket must be closed
            connection.close()
            raise
        return connection

    return construct


def socket_options(keep_alive_ms: float | None) -> list[tuple[int, int, int]]:
    options = [(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)]
    if keep_alive_ms is not None:
        options.append((socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1))
        if hasattr(socket, "TCP_KEEPIDLE"):
            seconds = max(1, round(keep_alive_ms / 1000.0))
            options.append((socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, seconds))
    return options


def ping_checker(
    path: str, limit_ms: float
) -> Callable[[CheckHandle, HTTPBackendConnection], None]:
    """Return a checker; it follows no redirects and refuses an answer that is too long."""

    def check(handle: CheckHandle, connection: HTTPBackendConnection) -> None:
        connection.timeout = limit_ms / 1000.0
        connection.request("GET", path, preload_content=False)
        response = connection.getresponse()
        body = response.read(MOST_BYTES + 1)
        if len(body) > MOST_BYTES:
            handle.close(CheckFailedError(f"{path} answered more than {MOST_BYTES} bytes"))
        elif response.status >= 500:
            handle.close(CheckFailedError(f"{path} answered {response.status}"))
        elif connection.sock is None:
            handle.close(CheckFailedError(f"{path} does not keep the connection"))
        else:
            handle.release()

    return check
