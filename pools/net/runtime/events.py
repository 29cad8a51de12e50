"""Listeners, and a state that others can wait for."""

import logging
import threading
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from typing import Any
from weakref import WeakMethod

from pools.logic.errors import InvalidInput
from pools.net.runtime.driver import Driver

log = logging.getLogger("pools")

Listener = Callable[..., None]


class Emitter:
    """Events: `state` (state) and those of the subclass.

    Listeners run one after the other on a thread of their own, or on the event loop of an asyncio
    pool. A listener that blocks delays no pool; after a second it is named in the log, and the
    others are told without it.
    """

    driver: Driver
    log: Any = log

    def __init__(self) -> None:
        self._listeners: dict[str, list[Listener]] = defaultdict(list)
        self._followers: dict[str, list[WeakMethod[Listener]]] = defaultdict(list)
        self._changed = threading.Condition()

    def after_fork(self) -> None:
        self._changed = threading.Condition()

    def on(self, event: str, listener: Listener) -> None:
        self._listeners[event].append(listener)

    def off(self, event: str, listener: Listener) -> None:
        self._listeners[event].remove(listener)

    def on_state(self, state: str, call: Callable[[], None]) -> None:
        """Call whenever the state is entered."""
        self.on("state", lambda entered: call() if entered == state else None)

    def follow(self, event: str, method: Listener) -> None:
        """Tell another part of this library at once, on the driver, without keeping it alive."""
        self._followers[event].append(WeakMethod(method))

    def unfollow(self, event: str, method: Listener) -> None:
        self._followers[event] = [each for each in self._followers[event] if each() != method]

    @property
    def state(self) -> str:
        raise NotImplementedError

    def is_in_state(self, state: str) -> bool:
        return self.state == state

    def get_state(self) -> str:
        return self.state

    def wait_for_state(self, *states: str, timeout: float | None = None) -> str:
        """Block until one of the states is reached; TimeoutError after `timeout` milliseconds."""
        seconds = None if timeout is None else timeout / 1000.0
        with self._changed:
            if not self._changed.wait_for(lambda: self.state in states, seconds):
                raise TimeoutError(f"still {self.state} after {timeout:g}ms")
            return self.state

    def emit(self, event: str, *values: Any) -> None:
        """Tell everybody; resolvers of your own call this, from any thread."""
        for reference in self._followers[event]:
            follower = reference()
            if follower is not None:
                _tell(follower, event, values)
        listeners = list(self._listeners[event])
        for listener in listeners:
            self.driver.call_back(self, partial(_tell, listener, event, values), listener)
        with self._changed:
            self._changed.notify_all()

    def note(self, level: str, text: str, *values: Any) -> None:
        """Write into the log on one thread for all, where a handler that blocks delays no pool."""
        write = getattr(self.log, level)
        is_wanted = getattr(self.log, "isEnabledFor", lambda _: True)
        if is_wanted(logging.getLevelNamesMapping()[level.upper()]):
            self.driver.call_back(self.driver, partial(write, text, *values), write)


def _tell(listener: Listener, event: str, values: tuple[Any, ...]) -> None:
    try:
        listener(*values)
    except Exception:  # one listener must not silence the others
        log.exception("a listener of %s failed", event)


def logger_of(log: Any) -> logging.Logger:
    if log is None:
        return logging.getLogger("pools")
    if not all(callable(getattr(log, level, None)) for level in ("debug", "info", "warning")):
        kind = type(log).__name__
        raise InvalidInput(f"log must be a logger with debug(), info() and warning(), not {kind}")
    return log
