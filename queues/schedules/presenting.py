"""Schedules and their runs as plain values for screens, REST and commands; secrets are masked."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from queues.errors import BadSchedule
from queues.logic.schedules.errors import BadRule
from queues.logic.schedules.forecast import ExpectedRun, difference, expected_runs
from queues.logic.schedules.words import rule_said
from queues.models import Schedule, ScheduledRun, Script
from queues.queries.presenters import masked_by_schema
from queues.schedules import operations
from queues.schedules.definition import rule_of

AHEAD = 20


def schedule_dict(schedule: Schedule) -> dict[str, Any]:
    given = operations.as_given(schedule)
    return {
        "name": schedule.name,
        **given,
        "data": masked_by_schema(schedule.data, schema_of(schedule)),
        "said": rule_said(schedule.rule),
        "state": schedule.state,
        "next_at": schedule.next_at if schedule.state == "active" else None,
        "runs": schedule.runs,
        "failures": schedule.failures,
        "paused_at": schedule.paused_at,
        "paused_by": schedule.paused_by,
        "pause_reason": schedule.pause_reason,
        "paused_until": schedule.paused_until,
        "ended_at": schedule.ended_at,
        "service": schedule.service,
        "created_at": schedule.created_at,
        "created_by": schedule.created_by,
        "changed_at": schedule.changed_at,
    }


def schema_of(schedule: Schedule) -> dict[str, Any] | None:
    scripts = Script.objects.filter(service__mount=schedule.mount, name=schedule.script)
    return scripts.values_list("schema", flat=True).first()


def run_dict(run: ScheduledRun) -> dict[str, Any]:
    return {
        "slot_at": run.slot_at,
        "kind": run.kind,
        "state": run.state,
        "reason": run.reason,
        "job_id": None if run.job_id is None else str(run.job_id),
        "dispatched_at": run.dispatched_at,
        "started_at": run.started_at,
        "ended_at": run.ended_at,
        "late_seconds": late_seconds(run),
    }


def late_seconds(run: ScheduledRun) -> float | None:
    """Return how long after its moment the run began; None if it has not begun."""
    begun = run.started_at
    return None if begun is None else max(0.0, (begun - run.slot_at).total_seconds())


def upcoming(schedule: Schedule, now: datetime, most: int = AHEAD) -> list[ExpectedRun]:
    """Return the next runs of a schedule that nobody pauses, as far as its number of runs goes."""
    if schedule.ended_at is not None:
        return []
    left = most if schedule.most_runs is None else schedule.most_runs - schedule.runs
    try:
        return expected_runs(rule_of(schedule), now, max(0, min(most, left)))
    except BadRule as error:
        raise BadSchedule(str(error)) from error


def expected_dict(run: ExpectedRun) -> dict[str, Any]:
    return {"at": run.at, "local": run.local.isoformat(), "note": run.note}


def preview(
    given: Mapping[str, Any], now: datetime, before: Schedule | None = None, most: int = AHEAD
) -> dict[str, Any]:
    """Return the next runs of what is not stored yet, and how it differs from what is."""
    unsaved = Schedule(name="preview", created_at=now) if before is None else before
    old = None if before is None else rule_of(before)
    from_rule = {name: value for name, value in given.items() if name in PREVIEWED}
    if before is None and "rule" not in given:
        raise BadSchedule("a preview needs a rule")
    drafted = operations.drafted_rule(unsaved, from_rule, now)
    said = difference(old, rule_of(drafted), now) if old is not None else ""
    runs = [expected_dict(each) for each in upcoming(drafted, now, most)]
    return {"said": rule_said(drafted.rule), "difference": said, "runs": runs}


PREVIEWED = ("rule", "zone", "starts_at", "ends_at", "most_runs")
