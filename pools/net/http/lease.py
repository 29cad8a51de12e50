"""A connection that is lent to one HTTP exchange."""

from typing import Any

from urllib3.response import HTTPResponse
from urllib3.util.connection import is_connection_dropped

from pools.net.http.connection import BackendHTTPSConnection, HTTPBackendConnection
from pools.net.pool.claim import Claim
from pools.net.pool.peer_close import has_hung_up
from pools.net.pool.pool import ConnectionPool

FAILING = 500


class Lease:
    """End exactly once: give the connection back, or close it when it cannot be reused."""

    def __init__(self, claim: Claim, connection: HTTPBackendConnection) -> None:
        self._claim: Claim | None = claim
        self.connection = connection
        self.is_used = connection.served > 0
        connection.served += 1

    def end(self, ok: bool | None) -> None:
        claim, self._claim = self._claim, None
        if claim is None:
            return
        if self.connection.sock is None:
            claim.close(ok)
        else:
            claim.release(ok)

    def break_off(self, ok: bool | None) -> None:
        claim, self._claim = self._claim, None
        if claim is not None:
            claim.close(ok)

    def follow(self, response: HTTPResponse) -> None:
        """Let a response that is read piece by piece end the lease itself."""
        response._connection = self.connection
        response._pool = self  # type: ignore[assignment]
        self._response = response
        close = response.close

        def close_and_end() -> None:
            close()
            self.break_off(None)

        response.close = close_and_end  # type: ignore[method-assign]

    def _put_conn(self, _: Any) -> None:
        """End the lease; urllib3 calls this when a response is read to its end or given up."""
        original = self._response._original_response
        is_over = original is None or original.isclosed()
        if not is_over:
            self.connection.close()  # the unread rest would be taken for the next answer
        is_broken = is_over and bool(self._response.length_remaining)
        self.end(self._response.status < FAILING and not is_broken)

    def __str__(self) -> str:
        """Return the name that urllib3 shows in the errors of a response."""
        return f"{self.connection.host}:{self.connection.port}"


def take_lease(pool: ConnectionPool, timeout_ms: float | None, error_on_empty: bool) -> Lease:
    """Take a connection whose peer has not closed it, as far as one can see."""
    while True:
        claim = pool.claim(timeout_ms, error_on_empty)
        connection = claim.wait()
        if not is_dropped(connection):
            return Lease(claim, connection)
        claim.close(ok=None if connection.served else False)


def is_dropped(connection: HTTPBackendConnection) -> bool:
    """Return True for bytes that came unasked, except the tickets of a fresh TLS session."""
    if isinstance(connection, BackendHTTPSConnection) and not connection.served:
        return connection.sock is None or has_hung_up(connection.sock)
    return is_connection_dropped(connection)
