"""Wait until SQLite is free: first come, first served, and never longer than allowed.

SQLite alone has no order: a writer that finds the file locked sleeps and looks again, the longer
it waits the more rarely, while others come and go. Here only the first in line asks SQLite. When
it has waited for a moment it also closes the gate, and newcomers join the line before they ask.
SQLite's own lock stays the only one that protects rows.
"""

import time
from collections.abc import Callable
from typing import TypeVar

from atributo_site.core.sqlite3.line import Line

T = TypeVar("T")
OVERTAKING_SECONDS = 0.02  # while the first waits no longer, newcomers may try: this saves pauses
PAUSE_SECONDS = 0.0005  # between two looks, for each one that comes first
LONGEST_PAUSE_SECONDS = 0.02
STRAY_SECONDS = 0.25  # everybody asks this often: the first in line may have been stopped


def in_turn(
    line: Line,
    attempt: Callable[[], T],
    is_busy: Callable[[Exception], bool],
    end: float,
    *,
    sleep: Callable[[float], None] = time.sleep,
    monotonic: Callable[[], float] = time.monotonic,
) -> T:
    """Make the attempt, again while it finds the file locked, for the last time at the end."""
    line.join()
    try:
        now = asked = began = monotonic()
        while True:
            before = line.before()
            if not before or now >= end or now - asked >= STRAY_SECONDS:
                asked = now
                try:
                    return attempt()
                except Exception as error:
                    if now >= end or not is_busy(error):
                        raise
            if not before and now - began >= OVERTAKING_SECONDS:
                line.close_gate()
            sleep(max(0.0, min(_pause(before), end - now)))
            now = monotonic()
    finally:
        line.leave()


def _pause(before: int) -> float:
    return min(PAUSE_SECONDS * max(before, 1), LONGEST_PAUSE_SECONDS)
