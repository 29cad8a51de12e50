"""Watch names in DNS; the curator's lease makes sure that only one process does.

Questions and answers travel on the thread of the library's driver. A sweep only starts and stops
resolvers, takes their readings and stores them.
"""

import threading
from collections import deque
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import structlog
from django.db.models import Count, Max, Prefetch, Q, Sum
from django.db.models.functions import Now

from atributo_site.core.leases import HeldLease
from pools.logic.errors import PoolError
from pools.models import Backend, Pool
from pools.net.runtime.driver import Driver, Timer
from pools.net.runtime.threads import default_driver
from pools.watch.apply_readings import apply_readings
from pools.watch.watched_name import WatchedName

log = structlog.get_logger(__name__)

PATIENCE_SECONDS = 0.2  # how long a sweep waits for the names that it has just asked for
BUDGET_MS = 500.0  # a sweep begins nothing after this time
BATCH = 50  # names whose answers are written in one transaction
MOST_STARTS = 50  # per sweep
GATHER_MS = 2000.0  # answers that change nothing are stored together, so long after the first
GLANCES_MS = 10_000.0  # how long a glance at the rows is enough if it shows nothing new
SILENCE_MS = 20_000.0  # after such a time without a sweep somebody else is active


class Watch:
    """Do one round with `sweep(now, lease)`; `stop()` forgets everything, and nothing is lost."""

    def __init__(
        self,
        driver: Driver | None = None,
        patience_seconds: float = PATIENCE_SECONDS,
        gather_ms: float = GATHER_MS,
        silence_ms: float = SILENCE_MS,
    ) -> None:
        self.patience_seconds = patience_seconds
        self.gather_ms = gather_ms
        self.silence_ms = silence_ms
        self.names: dict[int, WatchedName] = {}
        self._given_driver = driver
        self._token: int | None = None
        self._silence: Timer | None = None
        self._news = threading.Condition()
        self._seen: dict[str, Any] = {}
        self._look_at = 0.0

    @property
    def driver(self) -> Driver:
        return self._given_driver or default_driver()

    def sweep(self, now: datetime, lease: HeldLease) -> int:
        """Return how many backends came or went."""
        if lease.token != self._token:
            self.stop()
            self._token = lease.token
        until = self.driver.now() + BUDGET_MS
        self._expect_another_sweep()
        if asked := self._follow():
            self.wait_for(asked, self.patience_seconds)
        return self._take_all(now, lease, until)

    def stop(self) -> None:
        for name in self.names.values():
            name.resolver.stop()
        self.names = {}
        self._seen = {}
        self._token = None
        if self._silence is not None:
            self._silence.cancel()

    def wait_for(self, names: list[WatchedName], seconds: float) -> bool:
        """Wait until each name has a reading; return False when the time is over before."""
        with self._news:
            return self._news.wait_for(lambda: all(name.readings for name in names), seconds)

    # -- which names are watched -------------------------------------------------------------

    def _follow(self) -> list[WatchedName]:
        """Start, stop and ask as the rows say; return those that will have an answer soon."""
        seen = _rows_at_a_glance()
        if seen == self._seen and self.driver.now() < self._look_at:
            return []
        rows = Pool.objects.watched().values_list("pk", "epoch", "asked_at")
        wanted = {pk: (epoch, asked_at) for pk, epoch, asked_at in rows}
        for pk, name in list(self.names.items()):
            if wanted.get(pk, (None,))[0] != name.epoch:
                self.names.pop(pk).resolver.stop()
        if seen["paused"]:
            _mark_paused()
        new = [pk for pk in wanted if pk not in self.names]
        followed = [*self._start(new[:MOST_STARTS]), *self._ask(wanted)]
        self._seen = seen if len(new) <= MOST_STARTS else {}
        self._look_at = self.driver.now() + GLANCES_MS
        return followed

    def _start(self, pks: list[int]) -> list[WatchedName]:
        started = []
        known = Prefetch("backends", Backend.objects.present())
        for pool in Pool.objects.filter(pk__in=pks).prefetch_related(known) if pks else []:
            try:
                name = WatchedName(pool, pool.backends.all(), self.driver)
            except PoolError as error:  # the settings do not allow it any more
                _mark_failed(pool, str(error))
                continue
            name.resolver.follow("updated", self._answered)
            self.names[pool.pk] = name
            started.append(name)
        return started

    def _answered(self, error: Exception | None) -> None:
        self._wake_waiting()

    def _ask(self, wanted: dict[int, tuple[int, datetime | None]]) -> list[WatchedName]:
        """Ask now because a person wants to know; the resolver still keeps its floor."""
        asked = [n for pk, n in self.names.items() if wanted[pk][1] != n.asked_at]
        for name in asked:
            name.asked_at = wanted[name.pool_id][1]
            name.resolver.resolve_now()
        return asked

    # -- readings ----------------------------------------------------------------------------

    def _take_all(self, now: datetime, lease: HeldLease, until: float) -> int:
        """Take the oldest first, and nothing new once the time is over: the next sweep goes on."""
        clock = self._clock(now)
        names = self._with_readings()
        count = 0
        while names:
            batch = [names.popleft() for _ in range(min(BATCH, len(names)))]
            count += apply_readings(batch, clock, lease)
            if self.driver.now() > until:
                break
        return count

    def _with_readings(self) -> deque[WatchedName]:
        """Return the names with readings, if one of them has news or has waited long enough."""
        names = [name for name in self.names.values() if name.readings]
        names.sort(key=lambda name: name.readings[0].at)
        long_ago = self.driver.now() - self.gather_ms
        is_due = any(name.has_news() or name.readings[0].at <= long_ago for name in names)
        return deque(names if is_due else [])

    def _clock(self, now: datetime) -> Callable[[float], datetime | None]:
        """Convert the driver's milliseconds to moments of the database's clock."""
        here = self.driver.now()

        def moment(at: float) -> datetime | None:
            if abs(at) == float("inf"):
                return None
            return now + timedelta(milliseconds=at - here)

        return moment

    def _wake_waiting(self) -> None:
        with self._news:
            self._news.notify_all()

    # -- the end -----------------------------------------------------------------------------

    def _expect_another_sweep(self) -> None:
        if self._silence is not None:
            self._silence.cancel()
        self._silence = self.driver.call_at(self.driver.now() + self.silence_ms, self._fall_silent)

    def _fall_silent(self) -> None:
        """Stop asking: another curator is active or this one hangs, and two must not ask."""
        log.info("dns_watch_silent", names=len(self.names))
        for name in list(self.names.values()):
            name.resolver.stop()
        self._token = None  # a later sweep, if there is one, begins anew


def _rows_at_a_glance() -> dict[str, Any]:
    """Return counts that differ after a name is added, changed, paused, asked for or forgotten."""
    watched = Q(is_watched=True)
    return Pool.objects.aggregate(
        names=Count("pk", filter=watched),
        epochs=Sum("epoch", filter=watched),
        newest=Max("pk", filter=watched),
        asked=Max("asked_at", filter=watched),
        paused=Count("pk", filter=~watched & ~Q(state=Pool.State.STOPPED)),
    )


def _mark_paused() -> None:
    paused = Pool.objects.filter(is_watched=False).exclude(state=Pool.State.STOPPED)
    paused.update(state=Pool.State.STOPPED, state_since=Now(), next_at=None)


def _mark_failed(pool: Pool, error: str) -> None:
    Pool.objects.filter(pk=pool.pk).exclude(
        state=Pool.State.FAILED, last_error=error[:1000]
    ).update(state=Pool.State.FAILED, state_since=Now(), last_error=error[:1000], next_at=None)
