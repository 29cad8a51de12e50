"""The callback of a claim: called at most once, and never after the claim was cancelled."""

import threading
from collections.abc import Callable
from typing import Any

Callback = Callable[..., None]


class ClaimCallback:
    """Both sides take turns, so that `withdraw` knows whether the call comes or is over."""

    def __init__(self, callback: Callback) -> None:
        self._callback: Callback | None = callback
        self._turn = threading.RLock()  # a callback may cancel its own claim

    def call(self, answer: Callable[[], tuple[Any, ...] | None]) -> None:
        """Ask for the answer only now: since the driver was told, the claim may have ended."""
        with self._turn:
            callback, self._callback = self._callback, None
            arguments = answer() if callback is not None else None
            if callback is not None and arguments is not None:
                callback(*arguments)

    def withdraw(self) -> None:
        """Make no call any more; a call that is under way in another thread is waited for."""
        with self._turn:
            self._callback = None
