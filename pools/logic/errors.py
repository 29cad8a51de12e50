"""Every error of the library, under one root.

Those of connections and time-outs are also ConnectionError and TimeoutError, as Python people
expect.
"""

from typing import Any


class PoolsError(Exception):
    """The root of all errors; `pool` and `backend` say where it happened, `__cause__` why."""

    def __init__(self, message: str = "", *, pool: Any = None, backend: Any = None) -> None:
        super().__init__(message)
        self.pool = pool
        self.backend = backend


PoolError = PoolsError  # the name that it had first


class InvalidInput(PoolsError, ValueError):
    """A setting or a text of the user that cannot work."""


class ResolutionError(PoolsError):
    """A name could not be resolved."""


class ClaimError(PoolsError):
    """A claim that got no connection."""


class ClaimTimeoutError(ClaimError, TimeoutError):
    """No connection became free in time."""


class NoBackendsError(ClaimError):
    """The pool knows no backend at all."""


class PoolFailedError(ClaimError):
    """Every backend of the pool is dead."""


class PoolStoppingError(ClaimError):
    """The pool is stopping or stopped."""


class ClaimQueueFullError(ClaimError):
    """Too many claims are waiting already."""


class ClaimCancelledError(ClaimError):
    """The claim was cancelled before it was answered."""


class ClaimHandleMisusedError(PoolsError):
    """A handle was released twice, or used as if it were the connection."""


class BackendConnectionError(PoolsError, ConnectionError):
    """A connection to a backend failed."""


class ConnectionTimeoutError(BackendConnectionError, TimeoutError):
    """A connection to a backend took too long."""


class ConnectionClosedError(BackendConnectionError):
    """The backend closed the connection."""


class CheckFailedError(BackendConnectionError):
    """A health check said no, or nothing in time."""


class RequestError(BackendConnectionError):
    """A request broke off after its connection was made; nobody knows how far it got."""


class ReadTimeoutError(RequestError, TimeoutError):
    """The server was silent for too long."""


class WriteTimeoutError(RequestError, TimeoutError):
    """The server did not take the request in time."""


class TotalTimeoutError(RequestError, TimeoutError):
    """The whole request took too long, with all its attempts and redirects."""


class ProtocolError(RequestError):
    """The server answered something that is no HTTP."""


class TooManyRedirects(PoolsError):
    """A server sends the request around in circles, or too far."""


class StatusError(PoolsError):
    """The answer was 4xx or 5xx, and the caller asked to be told; `response` has the rest."""

    def __init__(self, message: str = "", *, response: Any = None) -> None:
        super().__init__(message)
        self.response = response


class AgentStoppedError(PoolsError):
    """The agent was used, or stopped again, after stop()."""


class PoolExistsError(PoolsError):
    """The host of create_pool() has a pool already."""
