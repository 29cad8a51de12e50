"""Close what a pool had, when somebody drops the pool without stopping it."""

import sys
import warnings
from collections.abc import Callable
from typing import Any
from weakref import WeakMethod

from pools.net.runtime.driver import Driver


class Leftovers:
    """Know the connections of a pool and its resolver, but not the pool itself.

    `dropped` runs as a finalizer, in the middle of anything, so it takes no lock: it warns, and
    leaves the rest to the driver.
    """

    def __init__(self, driver: Driver, resolver: Any, name: str) -> None:
        self.connections: dict[int, Any] = {}
        self.forget: Callable[[Any], None] = lambda connection: None
        self.is_told = True
        self._driver = driver
        self._resolver = resolver
        self._name = name

    def dropped(self) -> None:
        try:
            self._driver.call_soon(self._close_all)
        except RuntimeError:  # an event loop that is closed has closed its connections
            self.connections.clear()
        if self.is_told:
            warnings.warn(f"{self._name} was dropped without stop()", ResourceWarning, 2)

    def _close_all(self) -> None:
        if self._resolver is not None:
            self._resolver.stop()
        connections, self.connections = list(self.connections.values()), {}
        for connection in connections:
            self.forget(connection)
            close = getattr(connection, "close", None)
            if close is not None:
                self._driver.run(close, lambda result, error: None)


class Weakly:
    """Call a method without keeping its owner alive."""

    __slots__ = ("_method",)

    def __init__(self, method: Callable[..., None]) -> None:
        self._method = WeakMethod(method)

    def __call__(self, *values: Any) -> None:
        method = self._method()
        if method is not None:
            method(*values)


def place() -> str:
    """Return file and line of the caller outside of this package."""
    frame = sys._getframe(1)
    while frame.f_back is not None and _is_ours(frame.f_globals.get("__name__", "")):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


def made_at() -> str:
    return f"made at {place()}"


def _is_ours(module: str) -> bool:
    return module.startswith("pools.")
