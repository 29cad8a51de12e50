"""Call the callback of a claim at most once, and never after the claim was cancelled."""

import threading
from collections.abc import Callable
from typing import Any

Callback = Callable[..., None]


class ClaimCallback:
    """Let both sides take turns, so that `withdraw` knows whether the call comes or is over."""

    def __init__(self, callback: Callback) -> None:
        self.callback = callback
        self._callback: Callback | None = callback
        self._turn = threading.RLock()  # a callback may cancel its own claim

    def call(self, answer: Callable[[], tuple[Any, ...] | None]) -> None:
        """Ask for the answer only now: the claim may have ended since the driver was told."""
        with self._turn:
            callback, self._callback = self._callback, None
            arguments = answer() if callback is not None else None
            if callback is not None and arguments is not None:
                callback(*arguments)

    def withdraw(self) -> None:
        """Make no call any more; wait for one that is under way in another thread."""
        with self._turn:
            self._callback = None
