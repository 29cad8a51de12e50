"""Things of which one is enough for each driver."""

import threading
from collections.abc import Callable
from typing import TypeVar

from pools.net.driver import Driver

T = TypeVar("T")

_lock = threading.Lock()


def shared(kind: Callable[[Driver], T], driver: Driver) -> T:
    """The one of this kind that belongs to the driver; it lives as long as the driver does."""
    with _lock:
        if kind not in driver.belongings:
            driver.belongings[kind] = kind(driver)  # type: ignore[index]
        found: T = driver.belongings[kind]  # type: ignore[index]
        return found
