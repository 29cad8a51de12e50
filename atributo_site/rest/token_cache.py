"""Tokens looked up a moment ago, so that a busy client costs one look-up per five seconds."""

import time
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

Found = TypeVar("Found")


class TokenCache(Generic[Found]):
    """Remembers found values only, each for `seconds` from before its look-up began."""

    def __init__(
        self, seconds: float, size: int, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._seconds = seconds
        self._size = size
        self._monotonic = monotonic
        self._kept: OrderedDict[str, tuple[float, Found]] = OrderedDict()
        self._lock = Lock()

    def find(self, digest: str, look_up: Callable[[], Found | None]) -> Found | None:
        started = self._monotonic()
        until, found = self._kept.get(digest, (0.0, None))
        if found is not None and started < until:
            return found
        found = look_up()
        if found is not None:
            self._keep(digest, started + self._seconds, found)
        return found

    def forget(self, digest: str) -> None:
        with self._lock:
            self._kept.pop(digest, None)

    def clear(self) -> None:
        with self._lock:
            self._kept.clear()

    def _keep(self, digest: str, until: float, found: Found) -> None:
        with self._lock:
            self._kept.pop(digest, None)
            self._kept[digest] = (until, found)
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)
