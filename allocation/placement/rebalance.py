"""Rebalance: move jobs at a pace to where they would be placed today."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime

from django.conf import settings
from django.db.models import Count, F, QuerySet
from django.db.models.functions import Now
from django.db.transaction import atomic

from allocation.errors import NotRebalancing, Rebalancing
from allocation.instances.validation import check_request
from allocation.logic.drain import Move, moves_due, replan
from allocation.models import Allocation, Rebalance
from allocation.models.rebalance import ONLY_ROW
from allocation.placement.candidates import Loads, read_loads
from allocation.placement.destinations import Destinations
from allocation.placement.moves import move_jobs
from atributo_site.core.events import record

MOST_MOVES = 250  # per transaction and sweep: others wait for so many
MOST_LOOKED_AT = 10_000  # per sweep
PAGE = 1_000  # jobs read at once
SUBJECT = "allocations"
_decided: dict[str, tuple[tuple[datetime, str], Loads]] = {}


def start(*, moves_per_minute: int, using: str = "default") -> Rebalance:
    """Start at the first job; raise if a rebalance runs already."""
    check_request(moves_per_minute=moves_per_minute)
    rows = Rebalance.objects.using(using)
    jobs = sum(read_loads(using).jobs.values())
    fresh = {
        "started_at": Now(),
        "moves_per_minute": moves_per_minute,
        "jobs_at_start": jobs,
        "looked_at": 0,
        "moved": 0,
        "last_job_id": "",
        "done_at": None,
        "stopped": False,
    }
    with atomic(using=using):
        rows.bulk_create([Rebalance(moves_per_minute=1, done_at=Now())], ignore_conflicts=True)
        if not rows.filter(done_at__isnull=False).update(**fresh):
            raise Rebalancing("a rebalance is already running: stop it first")
        record(
            "allocations.rebalance_started",
            SUBJECT,
            using=using,
            moves_per_minute=moves_per_minute,
            jobs=jobs,
        )
        started = rows.get()  # in here: after the commit an error would say that none runs
    return started


def stop(using: str = "default") -> Rebalance:
    """Stop moving jobs; what has moved stays where it is."""
    rows = Rebalance.objects.using(using)
    with atomic(using=using):
        if not rows.filter(done_at__isnull=True).update(done_at=Now(), stopped=True):
            raise NotRebalancing("no rebalance is running")
        current = rows.get()
        record("allocations.rebalance_stopped", SUBJECT, using=using, moved=current.moved)
    return current


def last(using: str = "default") -> Rebalance | None:
    """Return the running rebalance, or the last one."""
    return Rebalance.objects.using(using).first()


def step(now: datetime, using: str = "default", *, guard: Callable[[], None] = lambda: None) -> int:
    """Move the jobs that are due; finish after the last job.

    They are planned before the transaction, which `guard` begins: it is all that others wait for.
    """
    current = _running(using).first()
    if current is None:
        return 0
    paced = replace(current.progress, remaining=MOST_MOVES)  # more may have come since the start
    due = moves_due(paced, current.moves_per_minute, now, MOST_MOVES)
    if not due:
        return 0
    planned = _plan(current, due, using)
    with atomic(using=using):
        guard()
        if not _is_unchanged(current, using):
            return 0
        moved = _move(planned, using)
        if planned.is_last:
            _finish(current.moved + moved, using)
    if planned.decided is not None:
        _decided[using] = (current.started_at, planned.last_job_id), planned.decided
    return moved


def beginning(using: str, current: Rebalance | None = None) -> Destinations:
    """Return where jobs go, from the first one on or behind those that were looked at.

    Rendezvous decides as if every instance were empty, so that a second pass decides the same.
    """
    if settings.ATRIBUTO.strategy != "rendezvous":
        return Destinations.without(None, using)
    decided = Loads({}, 0, 0.0) if current is None else _decided_before(current, using)
    return Destinations.anew(using, decided)


@dataclass
class _Planned:
    """The next moves, how many jobs were looked at for them, and up to which one."""

    last_job_id: str
    moves: list[Move] = field(default_factory=list)
    looked_at: int = 0
    is_last: bool = False
    decided: Loads | None = None


def _plan(current: Rebalance, due: int, using: str) -> _Planned:
    destinations, planned = beginning(using, current), _Planned(current.last_job_id)
    planned.decided = destinations.chooser.jobs if destinations.from_start else None
    most = destinations.most(MOST_LOOKED_AT)
    rows = Allocation.objects.using(using).order_by("job_id").values_list("job_id", "instance_id")
    while not planned.is_last and planned.looked_at < most and len(planned.moves) < due:
        size = min(PAGE, most - planned.looked_at)
        page = list(rows.filter(pk__gt=planned.last_job_id)[:size])
        destinations.expect(job_id for job_id, _ in page)
        moves, count = replan(page, destinations.choose_again, due - len(planned.moves))
        planned.moves += moves
        planned.looked_at += count
        planned.last_job_id = page[count - 1][0] if count else planned.last_job_id
        planned.is_last = count == len(page) < size
    return planned


def _decided_before(current: Rebalance, using: str) -> Loads:
    """Return where the jobs are that were looked at: as this process knows, or counted."""
    known = _decided.pop(using, None)  # and stored again once the moves are
    if known is not None and known[0] == (current.started_at, current.last_job_id):
        return known[1]
    before = Allocation.objects.using(using).filter(pk__lte=current.last_job_id)
    counts = before.order_by().values_list("instance_id").annotate(Count("pk"))
    return Loads(dict(counts) if current.last_job_id else {}, 0, 0.0)


def _is_unchanged(planned: Rebalance, using: str) -> bool:
    """Hold the row, so that `stop` waits for the moves; False if it was stopped or begun anew."""
    same = _running(using).filter(last_job_id=planned.last_job_id, looked_at=planned.looked_at)
    return same.select_for_update().exists()


def _move(planned: _Planned, using: str) -> int:
    moved = move_jobs(planned.moves, "rebalance", using)
    _running(using).update(
        moved=F("moved") + moved,
        looked_at=F("looked_at") + planned.looked_at,
        last_job_id=planned.last_job_id,
    )
    if moved:
        record("allocations.moved", SUBJECT, using=using, count=moved, reason="rebalance")
    return moved


def _finish(moved: int, using: str) -> None:
    _running(using).update(done_at=Now())
    record("allocations.rebalanced", SUBJECT, using=using, moved=moved)


def _running(using: str) -> QuerySet[Rebalance]:
    return Rebalance.objects.using(using).filter(pk=ONLY_ROW, done_at__isnull=True)
