"""Let the curator look less often while nothing happens in the installation.

Whatever asks for a repair begins with a row: an event, a transaction, a job. While none is added
and no repair finds anything, the repairs that usually run several times a second run every two
seconds, and the first new row brings them back to their own pace.
"""

import time
from collections.abc import Callable

from django.db import connection

AWAKE_SECONDS = 10.0  # after the last sign of life
IDLE_SECONDS = 2.0
LOOK = """
    SELECT (SELECT max(id) FROM allocation_event),
           (SELECT max(id) FROM allocation_transaction),
           (SELECT max(id) FROM queues_queuedjob)"""


def newest_rows() -> tuple[int | None, ...]:
    with connection.cursor() as cursor:
        cursor.execute(LOOK)
        return tuple(cursor.fetchone())


class Pace:
    def __init__(
        self,
        look: Callable[[], tuple[int | None, ...]] = newest_rows,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._look = look
        self._monotonic = monotonic
        self._newest: tuple[int | None, ...] | None = None
        self._awake_until = 0.0

    def look(self) -> bool:
        """Look once, with each heartbeat; return whether the curator has just woken up."""
        newest = self._look()
        if newest == self._newest:
            return False
        self._newest = newest
        return self.stir()

    def stir(self) -> bool:
        """Note a sign of life; return whether nothing had happened for a while."""
        was_idle = self.is_idle()
        self._awake_until = self._monotonic() + AWAKE_SECONDS
        return was_idle

    def is_idle(self) -> bool:
        return self._monotonic() >= self._awake_until

    def pause(self, seconds: float) -> float:
        return max(seconds, IDLE_SECONDS) if self.is_idle() else seconds
