"""Follow runs to their end: outcomes, runs that wait, runs to cancel, pauses."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import F
from django.db.models.functions import Now
from django.db.transaction import atomic

from atributo_site.core.database import dialect, execute, listed
from atributo_site.core.errors import AtributoError
from atributo_site.core.events import record
from atributo_site.core.leases import HeldLease
from atributo_site.core.models.clock import database_now
from queues.errors import BadSchedule
from queues.jobs import actions
from queues.logic.schedules.policies import Overlap
from queues.models import Schedule, ScheduledRun
from queues.runs.ids import get_job_ids
from queues.runs.reservation import aware
from queues.schedules.definition import next_of
from queues.schedules.pushing import Pusher
from queues.schedules.sql import statements

BATCH = 500
State, Kind = ScheduledRun.State, ScheduledRun.Kind
RESUMED: dict[str, Any] = {
    "paused_at": None,
    "paused_by": "",
    "pause_reason": "",
    "paused_until": None,
    "failures": 0,
}


class _Seen(NamedTuple):
    """An open run, with what its job says."""

    run_id: int
    schedule_id: int
    job_id: int | None
    status: str | None
    started_at: Any
    ended_at: Any
    aborted_at: Any
    error: str | None


def follow(now: datetime, lease: HeldLease) -> int:
    """Note how runs went on, and push or cancel what that allows. This mends nothing."""
    [[is_open, is_over]] = execute(statements.look(dialect()), {}).rows
    if is_open:
        with atomic():
            lease.guard()
            settle()
        push_waiting(lease)
        cancel_older(lease)
    if is_over:
        resume_in_time(lease)
    return 0


def settle(schedule_ids: Sequence[int] | None = None) -> int:
    """Write begins and ends of jobs into the open runs, in the caller's transaction."""
    d = dialect()
    asked: dict[str, Any] = {"most": BATCH * 4}
    if schedule_ids is not None:
        asked["ids"] = listed(schedule_ids)
    rows = execute(statements.settled(d, chosen=schedule_ids is not None), asked).rows
    seen = [_Seen(*row) for row in rows]
    ended = [each for each in seen if each.job_id is None or each.ended_at is not None]
    for each in seen:
        _write(each)
    for each in ended:
        _count(each)
    return len(seen)


def _write(seen: _Seen) -> None:
    columns: dict[str, Any] = {"started_at": aware(seen.started_at)}
    if seen.job_id is None:
        columns = {"state": State.ABORTED, "ended_at": Now(), "reason": "its job was deleted"}
    elif seen.ended_at is not None:
        columns |= {"state": _outcome(seen), "ended_at": aware(seen.ended_at)}
        columns["reason"] = (seen.error or "")[:500]
    ScheduledRun.objects.open().filter(pk=seen.run_id).update(**columns)


def _outcome(seen: _Seen) -> str:
    if seen.status == "complete":
        return State.COMPLETE
    return State.ABORTED if seen.aborted_at is not None else State.FAILED


def _count(seen: _Seen) -> None:
    """Count failures in a row, and pause a schedule that has had enough of them."""
    schedules = Schedule.objects.filter(pk=seen.schedule_id)
    outcome = State.ABORTED if seen.job_id is None else _outcome(seen)
    if outcome == State.COMPLETE:
        schedules.exclude(failures=0).update(failures=0)
    if outcome != State.FAILED:
        return
    schedules.update(failures=F("failures") + 1)
    enough = schedules.filter(paused_at=None, ended_at=None)
    enough = enough.filter(failures__gte=F("pause_after_failures"))
    for schedule in enough:
        failures = schedule.failures
        reason = f"{failures} failed {'run' if failures == 1 else 'runs in a row'}"
        columns = {"paused_at": Now(), "paused_by": "system", "pause_reason": reason}
        enough.filter(pk=schedule.pk).update(**columns)
        record("schedule.paused", f"schedule:{schedule.name}", reason=reason)


def push_waiting(lease: HeldLease) -> int:
    """Push runs that waited for the one before them."""
    waiting = ScheduledRun.objects.filter(state=State.WAITING, schedule__paused_at=None)
    pks = list(waiting.order_by().values_list("schedule_id", flat=True).distinct()[:BATCH])
    if not pks:
        return 0
    ids = get_job_ids(len(pks) * 2)  # outside of the transaction, which others wait for
    held = Schedule.objects.select_for_update(skip_locked=True, of=("self",))
    with atomic():
        lease.guard()
        pusher = Pusher(database_now(), ids)
        pushed = sum(
            _push_next(schedule, kind, pusher)
            for schedule in held.filter(pk__in=pks).select_related("queue")
            for kind in (Kind.SLOT, Kind.BACKFILL)
        )
        pusher.ring_after_commit()
    return pushed


def _push_next(schedule: Schedule, kind: str, pusher: Pusher) -> int:
    """Push as many waiting runs of this kind as may run now."""
    runs = ScheduledRun.objects.open().filter(schedule=schedule)
    runs = runs.filter(kind=kind) if kind == Kind.BACKFILL else runs.exclude(kind=Kind.BACKFILL)
    most = schedule.backfill_at_once if kind == Kind.BACKFILL else 1
    free = min(most - runs.filter(state=State.PUSHED).count(), pusher.room)
    if free <= 0:
        return 0
    waiting = runs.filter(state=State.WAITING).order_by("slot_at")[:free]
    return sum(_push(run, schedule, pusher) for run in waiting)


def _push(run: ScheduledRun, schedule: Schedule, pusher: Pusher) -> int:
    rows = ScheduledRun.objects.filter(pk=run.pk, state=State.WAITING)
    try:
        request, text = pusher.request(schedule)
    except AtributoError as error:
        return 0 * rows.update(state=State.MISSED, reason=f"the job was refused: {error}"[:500])
    job_id = pusher.push(request, text, schedule, pusher.now)
    return rows.update(state=State.PUSHED, job_id=job_id, dispatched_at=pusher.now)


def cancel_older(lease: HeldLease) -> int:
    """Abort earlier runs where the schedule says so; after a crash the next curator repeats it."""
    runs = ScheduledRun.objects.open().filter(state=State.PUSHED, kind=Kind.SLOT)
    runs = runs.filter(schedule__overlap=Overlap.CANCEL).order_by("schedule_id", "-slot_at")
    newest: set[int] = set()
    cancelled = 0
    for schedule_id, job_id in list(runs.values_list("schedule_id", "job_id")[: BATCH * 4]):
        if schedule_id not in newest:
            newest.add(schedule_id)
            continue
        lease.keep()
        cancelled += _cancel(job_id)
    return cancelled


def _cancel(job_id: int) -> int:
    try:
        return int(actions.abort(job_id, reason="the next run of its schedule is due"))
    except AtributoError:  # it has just ended, or its worker is asked again with the next round
        return 0


def resume_in_time(lease: HeldLease) -> int:
    """Resume schedules whose pause is over."""
    with atomic():
        lease.guard()
        held = Schedule.objects.select_for_update(skip_locked=True)
        over = list(held.filter(paused_until__lte=Now())[:BATCH])
        now = database_now()
        for schedule in over:
            _resume(schedule, now)
    return len(over)


def _resume(schedule: Schedule, now: datetime) -> None:
    rows = Schedule.objects.filter(pk=schedule.pk)
    try:
        rows.update(**RESUMED, next_at=next_of(schedule, now))
    except BadSchedule as error:
        rows.update(paused_until=None, pause_reason=str(error)[:2000])
        return
    record("schedule.resumed", f"schedule:{schedule.name}", reason="its pause was over")
