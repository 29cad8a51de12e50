"""Turn due schedules into jobs: one transaction for many, and exactly one job for each slot.

The run's row with its slot, the job and the schedule's next moment are stored together or not at
all. Rows of due schedules are held meanwhile, and the slot is part of a unique key.
"""

import json
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import Count
from django.db.transaction import atomic

from atributo_site.core.database import dialect, execute
from atributo_site.core.errors import AtributoError
from atributo_site.core.events import record_many
from atributo_site.core.leases import HeldLease
from atributo_site.core.models.clock import database_now
from queues.logic.schedules.errors import BadRule
from queues.logic.schedules.policies import Decision, Overlap, catch_up_from, jitter, on_overlap
from queues.logic.schedules.rule import JUST_BEFORE, Rule
from queues.logic.schedules.wall_clock import MICROSECOND
from queues.models import Schedule, ScheduledRun
from queues.runs.ids import get_job_ids
from queues.runs.reservation import aware
from queues.schedules import definition
from queues.schedules.following import settle
from queues.schedules.pushing import Pusher, expected
from queues.schedules.sql import statements

BATCH = 500  # schedules in one transaction
MOST_SLOTS = 100  # of one schedule at once; the rest follows with the next transaction
MOST_MISSED = 100  # runs of one outage that are listed: the newest ones
FEW = 20  # slots for which one schedule has room at once
SWEEP_SECONDS = 3.0
FAR = 3600.0
SHORTEST_SECONDS = 0.02  # what is overdue may be held by somebody else
State = ScheduledRun.State


def seconds_to_next() -> float:
    """Return how long it is until any schedule is due, by the database's clock."""
    [[next_at, now]] = execute(statements.next_due(dialect()), {}).rows
    if next_at is None:
        return FAR
    return max(SHORTEST_SECONDS, (_aware(next_at) - _aware(now)).total_seconds())


def dispatch(now: datetime, lease: HeldLease) -> int:
    """Dispatch all that is due, for a few seconds at most. This mends nothing.

    `now` is not used: each transaction reads the database's clock.
    """
    begun = time.monotonic()
    while (due := _count_due()) and time.monotonic() - begun < SWEEP_SECONDS:
        lease.keep()
        ids = get_job_ids(max(due, FEW))  # outside of the transaction, which others wait for
        with atomic():
            lease.guard()
            if not dispatch_batch(ids):
                break
    return 0


def _count_due() -> int:
    return len(execute(statements.due(dialect()), {"most": BATCH}).rows)


def dispatch_batch(ids: list[int], now: datetime | None = None) -> int:
    """Dispatch due schedules in the caller's transaction, as far as the ids of jobs go.

    A test may give a later moment than that of the database's clock.
    """
    held = Schedule.objects.select_for_update(skip_locked=True, of=("self",))
    due = list(held.due(now).select_related("queue").order_by("next_at")[:BATCH])
    if not due:
        return 0
    now = now or database_now()
    settle([schedule.pk for schedule in due])
    batch = _Batch(Pusher(now, ids), _open_of(due), _taken(due, now))
    for schedule in due:
        if batch.pusher.room:
            batch.add(schedule)
    batch.store()
    return len(batch.moves) + len(batch.broken)


@dataclass
class _Batch:
    pusher: Pusher
    open: dict[int, Counter[str]]
    taken: dict[int, set[datetime]]
    runs: list[ScheduledRun] = field(default_factory=list)
    moves: list[list[Any]] = field(default_factory=list)
    events: list[tuple[str, str, dict[str, Any]]] = field(default_factory=list)
    broken: list[tuple[int, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.now = self.pusher.now

    def add(self, schedule: Schedule) -> None:
        try:
            rule = definition.rule_of(schedule)
        except BadRule as error:  # such as a zone that an update of the zone data removed
            self._pause(schedule, str(error))
            return
        most = min(MOST_SLOTS, self.pusher.room)
        self._note_missed(schedule, rule)
        slots, next_at = _slots(schedule, rule, self.now, most)
        pushed = 0
        for slot_at in slots:
            left = schedule.most_runs is None or schedule.runs + pushed < schedule.most_runs
            if not left:
                break
            pushed += self._add_slot(schedule, slot_at)
        self._move(schedule, next_at, pushed)

    def _add_slot(self, schedule: Schedule, slot_at: datetime) -> int:
        """Add the run of one slot; return 1 if it counts as a run."""
        if slot_at in self.taken[schedule.pk]:
            return 0
        counts = self.open[schedule.pk]
        policy = Overlap(schedule.overlap)
        decision = on_overlap(policy, counts[State.PUSHED], counts[State.WAITING])
        if decision is Decision.SKIP:
            reason = "an earlier run was unfinished"
            self.runs.append(expected(schedule, slot_at, State.SKIPPED, reason=reason))
            return 0
        if decision is Decision.WAIT:
            counts[State.WAITING] += 1
            self.runs.append(expected(schedule, slot_at, State.WAITING))
            return 1
        return self._push(schedule, slot_at)

    def _push(self, schedule: Schedule, slot_at: datetime) -> int:
        due_at = slot_at + jitter(schedule.pk, slot_at, schedule.jitter_ms)
        try:
            request, text = self.pusher.request(schedule)
        except AtributoError as error:
            reason = f"the job was refused: {error}"[:500]
            self.runs.append(expected(schedule, slot_at, State.MISSED, reason=reason))
            self._tell("schedule.refused", schedule, slot=slot_at.isoformat(), error=str(error))
            return 0
        job_id = self.pusher.push(request, text, schedule, due_at)
        self.open[schedule.pk][State.PUSHED] += 1
        facts: dict[str, Any] = {"job_id": job_id, "dispatched_at": self.now}
        self.runs.append(expected(schedule, slot_at, State.PUSHED, **facts))
        return 1

    def _note_missed(self, schedule: Schedule, rule: Rule) -> None:
        """Count what is too late to be caught up on, and list the newest of it."""
        first, until = schedule.next_at, catch_up_from(self.now, schedule.catch_up_ms)
        if first is None or first >= until:
            return
        after = first + MICROSECOND  # the first was expected, even if zones have changed since
        missed = [first, *rule.newest(after, until, MOST_MISSED)][-MOST_MISSED:]
        count = 1 + rule.count(after, until)
        reason = f"the curator was away until {self.now:%Y-%m-%d %H:%M:%S} UTC"
        self._tell("schedule.missed", schedule, count=count, first=first.isoformat(), reason=reason)
        if count > len(missed):
            reason += f"; of {count} missed runs the newest {len(missed)} are listed"
        free = [at for at in missed if at not in self.taken[schedule.pk]]
        self.runs += [expected(schedule, at, State.MISSED, reason=reason) for at in free]

    def _move(self, schedule: Schedule, next_at: datetime | None, pushed: int) -> None:
        is_done = schedule.most_runs is not None and schedule.runs + pushed >= schedule.most_runs
        is_over = is_done or next_at is None
        moment = None if is_over else dialect().moment(next_at)
        self.moves.append([schedule.pk, moment, pushed, int(is_over)])
        if is_over:
            self._tell("schedule.ended", schedule, runs=schedule.runs + pushed)

    def _pause(self, schedule: Schedule, reason: str) -> None:
        self.broken.append((schedule.pk, reason))
        self._tell("schedule.paused", schedule, reason=reason)

    def _tell(self, kind: str, schedule: Schedule, **facts: Any) -> None:
        self.events.append((kind, f"schedule:{schedule.name}", facts))

    def store(self) -> None:
        ScheduledRun.objects.bulk_create(self.runs, batch_size=500)
        if self.moves:
            execute(statements.move_on(dialect()), {"rows": json.dumps(self.moves)})
        for pk, reason in self.broken:
            columns = {"paused_at": self.now, "paused_by": "system", "pause_reason": reason}
            Schedule.objects.filter(pk=pk).update(**columns)
        record_many(self.events)
        self.pusher.ring_after_commit()


def _slots(
    schedule: Schedule, rule: Rule, now: datetime, most: int
) -> tuple[list[datetime], datetime | None]:
    """Return the slots to dispatch, and the first one after them."""
    slots: list[datetime] = []
    for moment in _from(rule, schedule.next_at, catch_up_from(now, schedule.catch_up_ms)):
        if moment > now or len(slots) >= most:
            return slots, moment
        slots.append(moment)
    return slots, None


def _from(rule: Rule, first: datetime | None, not_before: datetime) -> Iterator[datetime]:
    if first is None:
        return
    if first >= not_before:
        yield first
    yield from rule.following(max(first, not_before - JUST_BEFORE))


def _open_of(due: list[Schedule]) -> dict[int, Counter[str]]:
    counts: dict[int, Counter[str]] = defaultdict(Counter)
    runs = ScheduledRun.objects.open().filter(schedule__in=due).exclude(kind="backfill").order_by()
    for pk, state, number in runs.values_list("schedule_id", "state").annotate(Count("pk")):
        counts[pk][state] = number
    return counts


def _taken(due: list[Schedule], now: datetime) -> dict[int, set[datetime]]:
    """Return slots that have a run already, by a backfill or before a rule was changed back."""
    first = min(schedule.next_at for schedule in due if schedule.next_at)
    runs = ScheduledRun.objects.filter(schedule__in=due, slot_at__range=(first, now))
    taken: dict[int, set[datetime]] = defaultdict(set)
    for pk, slot_at in runs.exclude(kind="manual").values_list("schedule_id", "slot_at"):
        taken[pk].add(slot_at)
    return taken


def _aware(value: Any) -> datetime:
    moment = aware(value)
    assert moment is not None
    return moment
