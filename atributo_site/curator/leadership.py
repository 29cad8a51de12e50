"""Choose one active curator of any number, by a lease; only that one repairs.

It looks less often while nothing happens in the installation. Whatever asks for a repair begins
with a row: an event, a transaction, a job. While none is added and no repair finds anything, the
repairs that usually run several times a second run every two seconds, and the first new row brings
them back to their own pace.
"""

import time
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.transaction import atomic

from atributo_site.core.errors import LeaseLost
from atributo_site.core.events import record
from atributo_site.core.fencing import count_fenced
from atributo_site.core.leases import HeldLease, this_process
from atributo_site.core.loops import Repair, Step

ROLE = "curator"
AWAKE_SECONDS = 10.0  # after the last sign of life
IDLE_SECONDS = 2.0
LOOK = """
    SELECT (SELECT max(id) FROM allocation_event),
           (SELECT max(id) FROM allocation_transaction),
           (SELECT max(id) FROM queues_queuedjob)"""


class Leadership:
    """Seek or keep the lease with `heartbeat`; run the repairs only while it is held."""

    def __init__(self, name: str, repairs: Sequence[Repair]) -> None:
        self.name = name
        self.repairs = repairs
        self.repaired: dict[str, int] = {}
        self.lease: HeldLease | None = None
        self._holder = this_process()
        self._rests_until: datetime | None = None
        self._pace = Pace()
        self._steps: list[Step] = []

    def steps(self) -> list[Step]:
        beat = Step("heartbeat", self._beat)
        self._steps = [Step(each.name, self._when_active(each)) for each in self.repairs]
        return [beat, *self._steps]

    def _beat(self, now: datetime) -> float:
        pause = self.heartbeat(now)
        if self.lease and self._pace.look():
            self._run_the_frequent_ones_now()
        return pause

    def _run_the_frequent_ones_now(self) -> None:
        for repair, step in zip(self.repairs, self._steps, strict=True):
            if repair.every_seconds < IDLE_SECONDS and not step.failures:
                step.due = 0.0

    def heartbeat(self, now: datetime) -> float:
        """Beat. A standby looks as often, so that it notices a hand-over at once."""
        env = settings.ATRIBUTO
        try:
            if self._rests_until is None or now >= self._rests_until:
                self._seek_or_keep(env.curator_heartbeat_timeout_ms / 1000)
        except LeaseLost:
            self._lose(now)
        return env.curator_heartbeat_interval_ms / 1000

    def resign(self) -> None:
        """Hand over on a clean stop."""
        if self.lease:
            with atomic():
                self.lease.release()
                record("curator.resigned", self._subject)
            self.lease = None

    def sweep(self, now: datetime, repair: Repair) -> int:
        """Run one repair under the held lease, and record what it mended."""
        assert self.lease is not None
        self.lease.keep()
        count = repair.run(now, self.lease)
        if count:
            self.repaired[repair.name] = self.repaired.get(repair.name, 0) + count
            record("curator.repaired", self._subject, repair=repair.name, count=count)
        return count

    def _seek_or_keep(self, seconds: float) -> None:
        if self.lease:
            self.lease.renew()
            return
        with atomic():  # a reader who sees the lease also sees the event
            lease = HeldLease.take(ROLE, self._holder, seconds, name=self.name)
            if lease:
                record("curator.active", self._subject, epoch=lease.token)
        self.lease = lease

    def _lose(self, now: datetime, **facts: Any) -> None:
        """Rest for a while: who was told to hand over must not be the first to ask again."""
        self.lease = None
        delay = timedelta(milliseconds=settings.ATRIBUTO.curator_inactivity_delay_ms)
        self._rests_until = now + delay
        record("curator.replaced", self._subject, **facts)
        count_fenced("lease", self._subject, **facts)

    def _when_active(self, repair: Repair) -> Callable[[datetime], float]:
        def run(now: datetime) -> float:
            mended = 0
            if self.lease:
                try:
                    mended = self.sweep(now, repair)
                except LeaseLost:
                    self._lose(now, during=repair.name)
            if mended:
                self._pace.stir()
            pause = self._pace.pause(repair.pause_after(mended))
            return min(pause, repair.due_in()) if self.lease and repair.due_in else pause

        return run

    @property
    def _subject(self) -> str:
        return f"curator:{self.name}"


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
