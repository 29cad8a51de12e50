"""Report the live pools of a process, so that the console can show all of them.

With its picture a process stores how many connections to each backend it has lent out, as holds:
allocation counts them and removes no instance that is in use. A hold of none says that the process
may lend one at any moment. It ends when the process has seen that the instance takes no new work:
its pools give up their idle connections and lend none, so a drain that is done stays done.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from django.db.models import Exists, OuterRef

from allocation.instances.holds import OPEN_CLAIM, hold_together
from allocation.models import Hold, Instance
from pools.models import Backend
from pools.models.pool_snapshot import OLD_SECONDS

if TYPE_CHECKING:
    from pools.net.pool.shell import PoolShell
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from django.db import connection
from django.db.models.functions import Now

from atributo_site.core.loops import Loop, Step
from atributo_site.core.presence import host_and_pid
from pools.models import PoolSnapshot
from pools.net.runtime.monitor import TYPES, PoolMonitor, pool_monitor

REPORT_SECONDS = 5.0
MOST_OF_A_KIND = 200  # a curator may watch thousands of names, which have rows of their own
FIRST_SECONDS = 1.0  # a new pool is still connecting at first


def hold_claimed(process: str, claimed: Mapping[str, int]) -> None:
    """Store backend key → connections lent out, instead of what this process stored before."""
    counts = _by_instance(claimed)
    Hold.objects.filter(kind=OPEN_CLAIM, key=process, until__lte=Now()).delete()  # too late: anew
    hold_together(counts, OPEN_CLAIM, process, seconds=OLD_SECONDS)
    let_go(process, but=set(counts))


def let_go(process: str, but: Collection[str] = ()) -> None:
    """Remove the holds of this process, except on these."""
    held = Hold.objects.filter(kind=OPEN_CLAIM, key=process).exclude(instance_id__in=but)
    held.delete()


def _by_instance(claimed: Mapping[str, int]) -> Counter[str]:
    """Add up by instance: a backend in several pools is one instance all the same."""
    known = Instance.objects.filter(pk=OuterRef("instance_id"))
    backends = Backend.objects.filter(Exists(known), key__in=list(claimed))
    counts: Counter[str] = Counter()
    for key, instance_id in set(backends.values_list("key", "instance_id")):
        counts[instance_id] += claimed[key]
    return counts


def avoid_drained(pools: Sequence["PoolShell"]) -> None:
    """Avoid drained instances; connect to a restored one again."""
    drained = _drained(_known(pools))
    for pool in pools:
        pool.avoid(drained & pool.resolver.list().keys())


def hold_and_avoid(process: str, monitor: PoolMonitor) -> None:
    """Stop lending before a hold ends, and hold before lending again.

    A drain that begins in between finds the hold of none and waits for the next report.
    """
    pools = monitor.pools()
    known = _known(pools)
    drained = _drained(known)
    for pool in pools:
        pool.avoid(pool.avoided | (drained & pool.resolver.list().keys()))
    hold_claimed(process, dict.fromkeys(known - drained, 0) | monitor.lent())
    for pool in pools:
        pool.avoid(drained & pool.resolver.list().keys())


def _known(pools: Sequence["PoolShell"]) -> set[str]:
    return {key for pool in pools for key in pool.resolver.list()}


def _drained(keys: set[str]) -> frozenset[str]:
    if not keys:
        return frozenset()
    unavailable = Instance.objects.filter(pk=OuterRef("instance_id"), available=False)
    rows = Backend.objects.filter(Exists(unavailable), key__in=list(keys))
    return frozenset(rows.values_list("key", flat=True))


class Report:
    """Write one picture with `step(now)`; without pools and resolvers there is none."""

    def __init__(
        self, process: str | Callable[[], str] = "", monitor: PoolMonitor = pool_monitor
    ) -> None:
        self._named = process or host_and_pid
        self._monitor = monitor
        self._has_reported = False

    @cached_property
    def process(self) -> str:
        """Return the name when it is first needed, because that may take a query."""
        return self._named if isinstance(self._named, str) else self._named()

    def step(self, now: datetime) -> float:
        body = self._monitor.snapshot(MOST_OF_A_KIND)
        if not any(body[kind] for kind in TYPES):
            self.leave()
            return REPORT_SECONDS
        wait = REPORT_SECONDS if self._has_reported else FIRST_SECONDS
        self._write(body)
        return wait

    def leave(self) -> None:
        """Remove the picture on a clean stop."""
        if self._has_reported:
            PoolSnapshot.objects.filter(process=self.process).delete()
            let_go(self.process)
            self._has_reported = False

    def _write(self, body: dict[str, Any]) -> None:
        values = {"body": body, "at": Now()}
        PoolSnapshot.objects.update_or_create(process=self.process, defaults=values)
        hold_and_avoid(self.process, self._monitor)
        self._has_reported = True


@contextmanager
def reporting(process: str = "") -> Iterator[None]:
    """Report from a thread until the end, for programs with a main loop of their own."""
    loop, thread = _started(Report(process))
    try:
        yield
    finally:
        loop.stop()
        thread.join(timeout=2)


def report_when_used(process: Callable[[], str], monitor: PoolMonitor = pool_monitor) -> None:
    """Report as soon as the process makes a pool; many processes never do."""

    def begin() -> None:
        _started(Report(process, monitor))

    monitor.when_used(begin)


def _started(report: Report) -> tuple[Loop, threading.Thread]:
    loop = Loop([Step("pools", report.step)], now=lambda: datetime.now(UTC))
    thread = threading.Thread(target=_run, args=(loop, report), name="pools-report", daemon=True)
    thread.start()
    return loop, thread


def _run(loop: Loop, report: Report) -> None:
    try:
        loop.run()
        report.leave()
    finally:
        connection.close()
