"""Limit REST requests per user and minute, by token buckets in this process."""

import math
import time
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Any

from django.conf import settings
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from atributo_site.rest.client_address import UNKNOWN, own_address

MOST_KEYS = 10_000


class Buckets:
    """Give each key a bucket that starts full and refills evenly; forget the oldest keys."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = Lock()

    def wait(self, key: str, size: int, per_seconds: float) -> int:
        """Take one token; return 0, or the whole seconds to wait if none is left."""
        with self._lock:
            level = self._level(key, size, per_seconds)
            taken = level >= 1
            self._put(key, level - 1 if taken else level)
        return 0 if taken else math.ceil((1 - level) * per_seconds / size)

    def has(self, key: str, size: int, per_seconds: float) -> bool:
        """Return whether a token is left, without taking one."""
        with self._lock:
            return self._level(key, size, per_seconds) >= 1

    def clear(self) -> None:
        with self._lock:
            self._levels.clear()

    def _level(self, key: str, size: int, per_seconds: float) -> float:
        level, at = self._levels.get(key, (float(size), self._monotonic()))
        return min(size, level + (self._monotonic() - at) * size / per_seconds)

    def _put(self, key: str, level: float) -> None:
        self._levels[key] = (level, self._monotonic())
        self._levels.move_to_end(key)
        if len(self._levels) > MOST_KEYS:
            self._levels.popitem(last=False)


requests = Buckets()


class PerMinute(BaseThrottle):
    """Count by user, or anonymous requests by their own address; 429 says when to come back."""

    seconds = 0

    def allow_request(self, request: Request, view: Any) -> bool:
        key, limit = _key(request), settings.ATRIBUTO.requests_per_minute
        self.seconds = requests.wait(key, limit, per_seconds=60) if key else 0
        return self.seconds == 0

    def wait(self) -> float:
        return self.seconds


def _key(request: Request) -> str:
    """Return no key where one stranger would use up the limit of others."""
    if request.user.is_authenticated:
        return f"user {request.user.pk}"
    address = own_address(request)
    return "" if address == UNKNOWN else f"address {address}"
