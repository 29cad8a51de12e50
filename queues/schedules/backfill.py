"""Run the slots of a past range that had no run, a few at a time.

A slot that was skipped or missed becomes a run that waits, as does one from before the schedule was
made. The unique key of slots holds here, too: a slot that has had its run gets no second one.
"""

from datetime import datetime
from typing import Any, NamedTuple

from django.db.transaction import atomic

from atributo_site.core.events import record
from atributo_site.core.models.clock import database_now
from queues.errors import BadSchedule
from queues.logic.schedules.errors import BadRule
from queues.logic.schedules.rule import JUST_BEFORE, Rule
from queues.logic.schedules.timings import moment
from queues.models import Schedule, ScheduledRun
from queues.schedules.definition import rule_of
from queues.schedules.operations import locked, row
from queues.schedules.pushing import expected

MOST = 10_000
MOST_AT_ONCE = 100
State, Kind = ScheduledRun.State, ScheduledRun.Kind
WITHOUT_A_JOB = [State.MISSED, State.SKIPPED]


class Plan(NamedTuple):
    """The slots of a range: those to run, and how many have had their run."""

    slots: list[datetime]
    done: int


def plan(name: str, since: Any, until: Any) -> Plan:
    """Return what a backfill would run; nothing is stored."""
    schedule = row(name)
    return _plan(schedule, *_range(schedule, since, until))


def start(name: str, since: Any, until: Any, at_once: int = 1) -> int:
    """Let the slots of a range wait for their run; return how many. Nothing runs twice."""
    if isinstance(at_once, bool) or not isinstance(at_once, int) or at_once < 1:
        raise BadSchedule("at_once must be a whole number from 1")
    if at_once > MOST_AT_ONCE:
        raise BadSchedule(f"at_once must be at most {MOST_AT_ONCE}")
    with atomic():
        schedule = locked(name)
        begin, end = _range(schedule, since, until)
        slots = _plan(schedule, begin, end).slots
        if not slots:
            return 0
        Schedule.objects.filter(pk=schedule.pk).update(backfill_at_once=at_once)
        _store(schedule, slots, begin, end)
        facts: dict[str, Any] = {"count": len(slots), "at_once": at_once}
        facts |= {"since": begin.isoformat(), "until": end.isoformat()}
        record("schedule.backfilled", f"schedule:{name}", **facts)
    return len(slots)


def stop(name: str) -> int:
    """Drop the runs of a backfill that still wait; return how many."""
    with atomic():
        schedule = locked(name)
        waiting = schedule.expected_runs.filter(kind=Kind.BACKFILL, state=State.WAITING)
        count = waiting.update(state=State.SKIPPED, reason="the backfill was stopped")
        if count:
            record("schedule.backfill_stopped", f"schedule:{name}", count=count)
    return count


def waiting(schedule: Schedule) -> int:
    return schedule.expected_runs.filter(kind=Kind.BACKFILL, state=State.WAITING).count()


def _store(schedule: Schedule, slots: list[datetime], begin: datetime, end: datetime) -> None:
    runs = schedule.expected_runs.exclude(kind=Kind.MANUAL)
    there = runs.filter(slot_at__range=(begin, end), state__in=WITHOUT_A_JOB)
    known = set(there.values_list("slot_at", flat=True))
    there.update(state=State.WAITING, kind=Kind.BACKFILL, reason="")
    new = [
        expected(schedule, slot, State.WAITING, Kind.BACKFILL)
        for slot in slots
        if slot not in known
    ]
    ScheduledRun.objects.bulk_create(new, batch_size=500)


def _plan(schedule: Schedule, begin: datetime, end: datetime) -> Plan:
    runs = schedule.expected_runs.exclude(kind=Kind.MANUAL).filter(slot_at__range=(begin, end))
    taken = set(runs.exclude(state__in=WITHOUT_A_JOB).values_list("slot_at", flat=True))
    # A schedule's start says when it begins by itself; a backfill is asked for by a person.
    rule = rule_of(schedule)
    every = _slots(Rule(rule.timing, rule.zone, None, schedule.ends_at), begin, end)
    slots = [slot for slot in every if slot not in taken]
    return Plan(slots, len(every) - len(slots))


def _slots(rule: Rule, begin: datetime, end: datetime) -> list[datetime]:
    slots: list[datetime] = []
    first = Rule(rule.timing, rule.zone, begin, rule.ends_at)
    for slot in first.following(begin - JUST_BEFORE):
        if slot > end:
            break
        slots.append(slot)
        if len(slots) > MOST:
            raise BadSchedule(f"a backfill has at most {MOST} runs; choose a shorter range")
    return slots


def _range(schedule: Schedule, since: Any, until: Any) -> tuple[datetime, datetime]:
    try:
        zone = rule_of(schedule).zone
        begin, end = moment("since", since, zone), moment("until", until, zone)
    except BadRule as error:
        raise BadSchedule(str(error)) from error
    if begin > end:
        raise BadSchedule("until must be after since")
    now = database_now()
    if end > now:
        raise BadSchedule("until must be over already: a backfill is for the past")
    return begin, end
