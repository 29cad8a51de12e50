"""Listeners, and a state that others can wait for."""

import logging
import threading
from collections import defaultdict
from collections.abc import Callable
from typing import Any

log = logging.getLogger("pools")


class Emitter:
    """Events: `state` (state) and those of the subclass; listeners run on the driver."""

    def __init__(self) -> None:
        self._listeners: dict[str, list[Callable[..., None]]] = defaultdict(list)
        self._changed = threading.Condition()

    def on(self, event: str, listener: Callable[..., None]) -> None:
        self._listeners[event].append(listener)

    def off(self, event: str, listener: Callable[..., None]) -> None:
        self._listeners[event].remove(listener)

    def on_state(self, state: str, call: Callable[[], None]) -> None:
        """Call whenever the state is entered."""
        self.on("state", lambda entered: call() if entered == state else None)

    @property
    def state(self) -> str:
        raise NotImplementedError

    def is_in_state(self, state: str) -> bool:
        return self.state == state

    def wait_for_state(self, *states: str, timeout: float | None = None) -> str:
        """Block until one of the states is reached; TimeoutError after `timeout` milliseconds."""
        seconds = None if timeout is None else timeout / 1000.0
        with self._changed:
            if not self._changed.wait_for(lambda: self.state in states, seconds):
                raise TimeoutError(f"still {self.state} after {timeout:g} ms")
            return self.state

    def _emit(self, event: str, *values: Any) -> None:
        for listener in list(self._listeners[event]):
            try:
                listener(*values)
            except Exception:  # one listener must not silence the others
                log.exception("a listener of %s failed", event)
        with self._changed:
            self._changed.notify_all()
