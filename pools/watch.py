"""The watcher of names in DNS: one is active, by the curator's lease.

Questions and answers travel on the thread of the library's driver. A sweep only starts and
stops resolvers, takes what they have found meanwhile and writes it down.
"""

import threading
from collections.abc import Callable
from datetime import datetime, timedelta

import structlog
from django.db import DatabaseError
from django.db.models.functions import Now

from allocation.leases import HeldLease
from pools import apply
from pools.logic.errors import PoolError
from pools.logic.vanishing import Verdict, is_answered, judge
from pools.models import Backend, Pool
from pools.net.driver import Driver, Timer
from pools.net.thread_driver import default_driver
from pools.permitted import refused_target
from pools.sighting import write_down
from pools.watched_name import Reading, WatchedName

log = structlog.get_logger(__name__)

PATIENCE_SECONDS = 0.2  # a sweep waits so long for the names that it has just asked for
BUDGET_MS = 500.0  # a sweep writes down no longer than this
MOST_STARTS = 100  # per sweep
SILENCE_MS = 20_000.0  # without a sweep for so long somebody else is active


class Watch:
    """`sweep(now, lease)` is one round; `stop()` forgets everything, and nothing is lost."""

    def __init__(
        self, driver: Driver | None = None, patience_seconds: float = PATIENCE_SECONDS
    ) -> None:
        self.patience_seconds = patience_seconds
        self.names: dict[int, WatchedName] = {}
        self._given_driver = driver
        self._token: int | None = None
        self._silence: Timer | None = None
        self._news = threading.Condition()

    @property
    def driver(self) -> Driver:
        return self._given_driver or default_driver()

    def sweep(self, now: datetime, lease: HeldLease) -> int:
        """Returns how many backends came or went."""
        if lease.token != self._token:
            self.stop()
            self._token = lease.token
        self._expect_another_sweep()
        if asked := self._follow():
            self.wait_for(asked, self.patience_seconds)
        return self._take_all(now, lease)

    def stop(self) -> None:
        for name in self.names.values():
            name.resolver.stop()
        self.names = {}
        self._token = None
        if self._silence is not None:
            self._silence.cancel()

    def wait_for(self, names: list[WatchedName], seconds: float) -> bool:
        """Until each of them has something to tell; False when the time is over before."""
        with self._news:
            return self._news.wait_for(lambda: all(name.readings for name in names), seconds)

    # -- which names are watched -------------------------------------------------------------

    def _follow(self) -> list[WatchedName]:
        """Start, stop and ask as the rows say; those that will have an answer soon."""
        rows = Pool.objects.watched().values_list("pk", "epoch", "asked_at")
        wanted = {pk: (epoch, asked_at) for pk, epoch, asked_at in rows}
        for pk, name in list(self.names.items()):
            if wanted.get(pk, (None,))[0] != name.epoch:
                self.names.pop(pk).resolver.stop()
        paused = Pool.objects.filter(is_watched=False).exclude(state=Pool.State.STOPPED)
        if paused.exists():  # asked first, because an UPDATE would wait for the writers of SQLite
            paused.update(state=Pool.State.STOPPED, state_since=Now(), next_at=None)
        new = [pk for pk in wanted if pk not in self.names][:MOST_STARTS]
        return [*self._start(new), *self._ask(wanted)]

    def _start(self, pks: list[int]) -> list[WatchedName]:
        started = []
        for pool in Pool.objects.filter(pk__in=pks) if pks else []:
            try:
                name = WatchedName(pool, self.driver)
            except PoolError as error:  # settings that do not allow it any more
                _mark_failed(pool, str(error))
                continue
            name.resolver.on("updated", lambda error: self._tell())
            self.names[pool.pk] = name
            started.append(name)
        return started

    def _ask(self, wanted: dict[int, tuple[int, datetime | None]]) -> list[WatchedName]:
        """A person wants to know now; the resolver keeps its floor all the same."""
        asked = [n for pk, n in self.names.items() if wanted[pk][1] != n.asked_at]
        for name in asked:
            name.asked_at = wanted[name.pool_id][1]
            name.resolver.resolve_now()
        return asked

    # -- what was found ----------------------------------------------------------------------

    def _take_all(self, now: datetime, lease: HeldLease) -> int:
        """The oldest first and no longer than the budget; the rest waits for the next sweep."""
        until = self.driver.now() + BUDGET_MS
        told = [name for name in self.names.values() if name.readings]
        count = 0
        for name in sorted(told, key=lambda name: name.readings[0].at):
            if self.driver.now() > until:
                break
            count += self._take_in_turn(name, now, lease)
        return count

    def _take_in_turn(self, name: WatchedName, now: datetime, lease: HeldLease) -> int:
        count = 0
        try:
            while name.readings:
                count += self._take(name, name.readings[0], now, lease)
                name.readings.popleft()
        except DatabaseError:  # busy or away: the reading is still there for the next sweep
            log.exception("dns_reading_kept", pool=name.pool_id)
        return count

    def _take(self, name: WatchedName, reading: Reading, now: datetime, lease: HeldLease) -> int:
        pool = Pool.objects.filter(pk=name.pool_id, epoch=name.epoch).first()
        if pool is None:  # changed meanwhile: the next sweep begins anew
            return 0
        verdict = judge(
            _known_keys(pool),
            set(reading.backends),
            pool.removal_share,
            name.doubted,
            is_answered(reading.error, reading.steps),
        )
        write_down(pool, reading, verdict, self._clock(now), lease)
        for key in sorted(verdict.removed):
            apply.remove(pool, key, lease)
        for key in sorted(verdict.added):
            apply.add(pool, reading.backends[key], lease)
        self._doubt(name, verdict)
        return len(verdict.added) + len(verdict.removed)

    def _doubt(self, name: WatchedName, verdict: Verdict) -> None:
        name.doubted = verdict.waits
        if verdict.waits:
            name.resolver.resolve_now()

    def _clock(self, now: datetime) -> Callable[[float], datetime | None]:
        """From the driver's milliseconds to moments of the database's clock."""
        here = self.driver.now()

        def moment(at: float) -> datetime | None:
            if abs(at) == float("inf"):
                return None
            return now + timedelta(milliseconds=at - here)

        return moment

    def _tell(self) -> None:
        with self._news:
            self._news.notify_all()

    # -- the end -----------------------------------------------------------------------------

    def _expect_another_sweep(self) -> None:
        if self._silence is not None:
            self._silence.cancel()
        self._silence = self.driver.call_at(self.driver.now() + SILENCE_MS, self._fall_silent)

    def _fall_silent(self) -> None:
        """Another curator is active, or this one is stuck: two must not ask the same names."""
        log.info("dns_watch_silent", names=len(self.names))
        for name in list(self.names.values()):
            name.resolver.stop()
        self._token = None  # the next sweep, if there is one, begins anew


def _known_keys(pool: Pool) -> set[str]:
    """A refused backend that is permitted by now is new."""
    rows = pool.backends.present().values_list("key", "state", "address", "port")
    return {
        key
        for key, state, address, port in rows
        if state == Backend.State.PRESENT or refused_target(address, port)
    }


def _mark_failed(pool: Pool, error: str) -> None:
    Pool.objects.filter(pk=pool.pk).exclude(
        state=Pool.State.FAILED, last_error=error[:1000]
    ).update(state=Pool.State.FAILED, state_since=Now(), last_error=error[:1000], next_at=None)
