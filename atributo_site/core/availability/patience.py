"""How long the current call may wait for a busy database, all its tries together."""

import time
from contextvars import ContextVar

from django.conf import settings

_deadline: ContextVar[float | None] = ContextVar("deadline of waiting", default=None)
_lock_ms: ContextVar[int] = ContextVar("longest wait for a lock", default=0)


def deadline() -> float:
    """Return the moment of the monotonic clock at which a wait that begins now has to end."""
    known = _deadline.get()
    return time.monotonic() + settings.ATRIBUTO.busy_timeout_ms / 1000 if known is None else known


def lock_ms() -> int:
    """Return how long PostgreSQL may wait for one lock; 0 for as long as the connection says."""
    return _lock_ms.get()


class waiting_until:  # noqa: N801 - used as a function; a generator would cost twice as much
    """Let nothing inside wait longer, nor longer than what is outside of it may."""

    __slots__ = ("_before", "_moment")

    def __init__(self, moment: float) -> None:
        self._moment = moment

    def __enter__(self) -> float:
        known = _deadline.get()
        earlier = self._moment if known is None or self._moment < known else known
        self._before = _deadline.set(earlier)
        return earlier

    def __exit__(self, *error: object) -> None:
        _deadline.reset(self._before)


class in_a_hurry(waiting_until):  # noqa: N801
    """Let nothing inside wait longer for others than so many milliseconds.

    Inside a transaction PostgreSQL keeps to what held when it began.
    """

    __slots__ = ("_lock_before", "_milliseconds")

    def __init__(self, milliseconds: int) -> None:
        self._milliseconds = min(milliseconds, settings.ATRIBUTO.busy_timeout_ms)
        super().__init__(time.monotonic() + self._milliseconds / 1000)

    def __enter__(self) -> float:
        known = _lock_ms.get()
        self._lock_before = _lock_ms.set(min(self._milliseconds, known or self._milliseconds))
        return super().__enter__()

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        _lock_ms.reset(self._lock_before)
