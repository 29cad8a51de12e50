"""Rebalance: move jobs at a pace to where they would be placed today."""

from datetime import datetime

from django.db.models import F
from django.db.models.functions import Now
from django.db.transaction import atomic

from allocation.errors import NotRebalancing, Rebalancing
from allocation.instances.validation import check_request
from allocation.logic.drain import moves_due, replan
from allocation.models import Allocation, Rebalance
from allocation.models.rebalance import ONLY_ROW
from allocation.placement.candidates import read_loads
from allocation.placement.moves import Destinations, move_jobs
from atributo_site.core.events import record

MOST_MOVES = 200  # per sweep
MOST_LOOKED_AT = 2_000  # per sweep
SUBJECT = "allocations"


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
            raise Rebalancing("job ids are being rebalanced already: stop that first")
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
            raise NotRebalancing("no job ids are being rebalanced")
        current = rows.get()
        record("allocations.rebalance_stopped", SUBJECT, using=using, moved=current.moved)
    return current


def last(using: str = "default") -> Rebalance | None:
    """Return the running rebalance, or the last one."""
    return Rebalance.objects.using(using).first()


def step(now: datetime, using: str = "default") -> int:
    """Move the jobs that are due, inside the caller's transaction; finish after the last job."""
    running = Rebalance.objects.using(using).filter(done_at__isnull=True)
    current = running.select_for_update().first()  # `stop` waits for the moves under way
    if current is None:
        return 0
    due = moves_due(current.progress, current.moves_per_minute, now, MOST_MOVES)
    return _move_some(current, due, using) if due else 0


def _move_some(current: Rebalance, most: int, using: str) -> int:
    rows = Allocation.objects.using(using).filter(pk__gt=current.last_job_id).order_by("job_id")
    placed = list(rows.values_list("job_id", "instance_id")[:MOST_LOOKED_AT])
    moves, looked_at = replan(placed, Destinations.without(None, using).choose_again, most)
    moved = move_jobs(moves, "rebalance", using)
    running = Rebalance.objects.using(using).filter(pk=ONLY_ROW, done_at__isnull=True)
    if looked_at:
        running.update(
            moved=F("moved") + moved,
            looked_at=F("looked_at") + looked_at,
            last_job_id=placed[looked_at - 1][0],
        )
    if moved:
        record("allocations.moved", SUBJECT, using=using, count=moved, reason="rebalance")
    if looked_at == len(placed) < MOST_LOOKED_AT and running.update(done_at=Now()):
        record("allocations.rebalanced", SUBJECT, using=using, moved=current.moved + moved)
    return moved
