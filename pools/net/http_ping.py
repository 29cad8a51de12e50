"""The health check of HTTP connections: a GET that must not answer 5xx."""

from collections.abc import Callable

from pools.logic.errors import CheckFailedError
from pools.net.connecting import CheckHandle
from pools.net.http_connection import HTTPBackendConnection

MOST_BYTES = 64 * 1024


def ping_checker(
    path: str, limit_ms: float
) -> Callable[[CheckHandle, HTTPBackendConnection], None]:
    """Redirects are not followed, and an answer that is too long is a failure."""

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
