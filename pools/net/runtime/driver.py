"""The interface to the clock, timers, sockets and threads, and what users of a driver share."""

import threading
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from pools.net.runtime.fork import first_after_fork

Done = Callable[[Any, BaseException | None], None]
T = TypeVar("T")


class Timer(Protocol):
    def cancel(self) -> None: ...


class Driver(Protocol):
    """It is one thread for the whole process, an asyncio loop, or a test.

    `belongings` holds what all users of one driver share, by its class.
    """

    belongings: dict[type, Any]

    def now(self) -> float:
        """Return milliseconds of a clock that never goes back."""
        ...

    def call_soon(self, call: Callable[[], None]) -> None:
        """Run the call on the driver; any thread may use this."""
        ...

    def call_at(self, at: float, call: Callable[[], None]) -> Timer:
        """Run the call at that moment; any thread may use this."""
        ...

    def add_reader(self, source: Any, call: Callable[[], None]) -> None: ...

    def remove_reader(self, source: Any) -> Any: ...

    def add_writer(self, source: Any, call: Callable[[], None]) -> None: ...

    def remove_writer(self, source: Any) -> Any: ...

    def run(self, call: Callable[[], Any], done: Done) -> Callable[[], bool]:
        """Make a call that may block or return an awaitable, then pass on its result.

        The returned function gives the call up; it returns False if that is impossible.
        """
        ...

    def call_back(self, owner: Any, call: Callable[[], None], culprit: Any) -> None:
        """Make a call into a user's code, after those that the same owner made before."""
        ...


_lock = threading.RLock()  # garbage collection may make a user's code come back here


def after_fork() -> None:
    global _lock
    _lock = threading.RLock()


first_after_fork(after_fork)


def shared(kind: Callable[[Driver], T], driver: Driver) -> T:
    """Return the one of this kind that belongs to the driver; it lives as long as the driver."""
    with _lock:
        if kind not in driver.belongings:
            driver.belongings[kind] = kind(driver)  # type: ignore[index]
        belonging: T = driver.belongings[kind]  # type: ignore[index]
        return belonging
