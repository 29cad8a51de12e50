"""Every error of the library, under one root."""

from typing import Any


class PoolError(Exception):
    """The root of all errors; `pool` and `backend` say where it happened, `__cause__` why."""

    def __init__(self, message: str = "", *, pool: Any = None, backend: Any = None) -> None:
        super().__init__(message)
        self.pool = pool
        self.backend = backend


class InvalidInput(PoolError, ValueError):
    """A setting or a text of the user that cannot work."""


class ResolutionError(PoolError):
    """A name could not be resolved."""


class ClaimError(PoolError):
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


class ClaimHandleMisusedError(PoolError):
    """A handle was released twice, or used as if it were the connection."""


class BackendConnectionError(PoolError, ConnectionError):
    """A connection to a backend failed."""


class ConnectionTimeoutError(BackendConnectionError, TimeoutError):
    """A connection to a backend took too long."""


class ConnectionClosedError(BackendConnectionError):
    """The backend closed the connection."""


class CheckFailedError(BackendConnectionError):
    """A health check said no, or nothing in time."""


class AgentStoppedError(PoolError):
    """The agent was used, or stopped again, after stop()."""


class PoolExistsError(PoolError):
    """The host of create_pool() has a pool already."""
