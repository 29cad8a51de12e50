"""Create, change, delete, pause and resume schedules, each with its event."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import IntegrityError
from django.db.models.functions import Now
from django.db.transaction import atomic

from atributo_site.core.events import current_actor, record
from atributo_site.core.models.clock import database_now
from queues import catalogue
from queues.errors import (
    BadSchedule,
    QueueNotFound,
    ScheduleExists,
    ScheduleHasEnded,
    ScheduleNotFound,
)
from queues.logic.schedules.errors import BadRule
from queues.logic.schedules.timings import moment
from queues.models import Queue, Schedule
from queues.runs.ids import get_job_ids
from queues.schedules import definition, target
from queues.schedules.definition import rule_of
from queues.schedules.following import RESUMED
from queues.schedules.pushing import Pusher, push_manual

FIELDS = (*target.FIELDS, *definition.FIELDS)
NEEDED = ("script", "rule")
LONGEST_REASON = 2000
UNTOLD = "not recorded"


def create(name: str, **given: Any) -> Schedule:
    """Make a schedule; what is left out has its default."""
    definition.check_name(name)
    _check_fields(given)
    missing = [field for field in NEEDED if given.get(field) is None]
    if missing:
        raise BadSchedule(f"a schedule needs {' and '.join(missing)}")
    now = database_now()
    schedule = drafted(Schedule(name=name, created_at=now), {"queue": "default", **given}, now)
    schedule.next_at = definition.next_of(schedule, now)
    schedule.created_by = current_actor().name
    try:
        with atomic():
            schedule.save(force_insert=True)
            record("schedule.created", _subject(name), **_facts(schedule))
    except IntegrityError as error:
        raise ScheduleExists(f"there is a schedule {name} already") from error
    return schedule


def change(name: str, *, extra: Mapping[str, Any] | None = None, **given: Any) -> bool:
    """Change what is given; False when it was so already. `extra` are columns of a manifest."""
    _check_fields(given)
    now = database_now()
    with atomic():
        schedule = locked(name)
        before = as_given(schedule)
        rule, limit = _when(schedule), schedule.most_runs
        drafted(schedule, given, now)
        after = as_given(schedule)
        changed = sorted(field for field in after if after[field] != before[field])
        if not changed and not extra:
            return False
        if (_when(schedule), schedule.most_runs) != (rule, limit) or schedule.ended_at:
            _expect_again(schedule, now)
        for column, value in (extra or {}).items():
            setattr(schedule, column, value)
        schedule.changed_at = now
        schedule.save()
        if changed:
            was, now_is = _only(before, changed), _only(after, changed)
            record("schedule.changed", _subject(name), before=was, after=now_is)
    return bool(changed)


def delete(name: str) -> None:
    """Delete a schedule and its history; its jobs stay."""
    with atomic():
        schedule = locked(name)
        facts = _facts(schedule)
        schedule.delete()
        record("schedule.deleted", _subject(name), **facts)


def pause(name: str, *, reason: str = "", until: Any = None) -> bool:
    """Expect no run until it is resumed, or until a moment. False when it was paused already."""
    now = database_now()
    end = _until(until, row(name), now)
    columns = {"paused_at": Now(), "paused_by": current_actor().name, "paused_until": end}
    reason = reason.replace("\x00", "")[:LONGEST_REASON]
    with atomic():
        waiting = Schedule.objects.filter(name=name, paused_at=None, ended_at=None)
        if waiting.update(**columns, pause_reason=reason):
            facts = {"until": end.isoformat()} if end else {}
            record("schedule.paused", _subject(name), reason=reason, **facts)
            return True
    _refuse_ended(name)
    return False


def resume(name: str) -> bool:
    """Expect runs again, from now on. False when it was not paused."""
    now = database_now()
    with atomic():
        schedule = locked(name)
        if schedule.ended_at is not None:
            _refuse_ended(name)
        if schedule.paused_at is None:
            return False
        next_at = definition.next_of(schedule, now)
        Schedule.objects.filter(pk=schedule.pk).update(**RESUMED, next_at=next_at)
        record("schedule.resumed", _subject(name))
    return True


def run_now(name: str) -> str:
    """Push one run at once, beside its rule; return the job's id."""
    row(name)
    ids = get_job_ids(1)
    with atomic():
        job_id = push_manual(locked(name), Pusher(database_now(), ids))
        record("schedule.run_now", _subject(name), job=str(job_id))
    return str(job_id)


def row(name: str) -> Schedule:
    schedule = Schedule.objects.select_related("queue").filter(name=_searched(name)).first()
    if schedule is None:
        raise ScheduleNotFound(f"There is no schedule {name}.", schedule=name)
    return schedule


def drafted(schedule: Schedule, given: Mapping[str, Any], now: datetime) -> Schedule:
    """Put what is given into the row without storing it; refuse what is wrong."""
    for column, value in target.columns(given, _queue).items():
        setattr(schedule, column, value)
    drafted_rule(schedule, given, now)
    target.check(schedule)
    return schedule


def drafted_rule(schedule: Schedule, given: Mapping[str, Any], now: datetime) -> Schedule:
    """Put only what says when it runs into the row."""
    for column, value in definition.columns(given, schedule, now).items():
        setattr(schedule, column, value)
    if "rule" in given:
        definition.next_of(schedule, now)
    return schedule


def _expect_again(schedule: Schedule, now: datetime) -> None:
    """Compute the next run after a change of the rule; an ended schedule goes on."""
    if schedule.most_runs is not None and schedule.runs >= schedule.most_runs:
        raise BadSchedule(
            f"most_runs must be more than the {schedule.runs} runs that {schedule.name} has had"
        )
    schedule.next_at = definition.next_of(schedule, now)
    schedule.ended_at = None


def _check_fields(given: Mapping[str, Any]) -> None:
    unknown = sorted(set(given) - set(FIELDS))
    if unknown:
        raise BadSchedule(f"a schedule has {', '.join(FIELDS)}, not {', '.join(unknown)}")


def _queue(name: Any) -> Queue:
    if not isinstance(name, str):
        raise QueueNotFound("a queue is named by a text")
    return catalogue.row(name)


def locked(name: str) -> Schedule:
    """Return a schedule and hold its row for the caller's transaction."""
    rows = Schedule.objects.select_for_update(of=("self",)).select_related("queue")
    schedule = rows.filter(name=_searched(name)).first()
    if schedule is None:
        raise ScheduleNotFound(f"There is no schedule {name}.", schedule=name)
    return schedule


def _searched(name: Any) -> str:
    return name if isinstance(name, str) and "\x00" not in name else ""


def _refuse_ended(name: str) -> None:
    if row(name).ended_at is not None:
        raise ScheduleHasEnded(f"schedule {name} has ended; change its rule or end to go on")


def _until(until: Any, schedule: Schedule, now: datetime) -> datetime | None:
    if until is None:
        return None
    try:
        end = moment("until", until, rule_of(schedule).zone)
    except BadRule as error:
        raise BadSchedule(str(error)) from error
    if end <= now:
        raise BadSchedule(f"until is over already: {end.isoformat()}")
    return end


def _when(schedule: Schedule) -> tuple[Any, ...]:
    return tuple(getattr(schedule, field) for field in definition.WHEN)


def as_given(schedule: Schedule) -> dict[str, Any]:
    """Return every field as a caller would write it."""
    others = {name: getattr(schedule, column) for name, column in definition.SPANS.items()}
    others |= {name: getattr(schedule, name) for name in (*definition.COUNTS, "overlap", "zone")}
    moments = {name: getattr(schedule, name) for name in ("starts_at", "ends_at")}
    written = {name: at.isoformat() if at else None for name, at in moments.items()}
    return {**target.as_given(schedule), "rule": schedule.rule, **others, **written}


def _only(fields: Mapping[str, Any], names: list[str]) -> dict[str, Any]:
    """Return some fields for an event; data may hold what a schema calls a secret."""
    return {name: UNTOLD if name == "data" else fields[name] for name in names}


def _facts(schedule: Schedule) -> dict[str, Any]:
    return {"script": target.said(schedule), "rule": schedule.rule, "zone": schedule.zone}


def _subject(name: str) -> str:
    return f"schedule:{name}"
