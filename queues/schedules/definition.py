"""Check what people and programs write about a schedule, and turn it into columns."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from atributo_site.core.text import milliseconds
from queues.errors import BadSchedule
from queues.logic.schedules.errors import BadRule, shown
from queues.logic.schedules.policies import Overlap
from queues.logic.schedules.rule import Rule, check_fires, read
from queues.logic.schedules.timings import moment
from queues.logic.schedules.zones import zone_named
from queues.logic.storable import json_refusal
from queues.models import Schedule

LONGEST_NAME = 128
LONGEST_SPAN_MS = 366 * 86_400_000
LEAST_CATCH_UP_MS = 60_000  # a change of the curator takes seconds
MOST_RUNS = 2**31 - 1
WHEN = ("rule", "zone", "starts_at", "ends_at")
SPANS = {"jitter": "jitter_ms", "catch_up": "catch_up_ms", "grace": "grace_ms"}
COUNTS = ("most_runs", "pause_after_failures")
FIELDS = (*WHEN, *SPANS, *COUNTS, "overlap")


def columns(given: Mapping[str, Any], before: Schedule, now: datetime) -> dict[str, Any]:
    """Return the columns of what is given of FIELDS; `before` is the row as it is."""
    try:
        found = _when(given, before, now)
    except BadRule as error:
        raise BadSchedule(str(error)) from error
    found |= {SPANS[name]: span(name, given[name]) for name in SPANS if name in given}
    found |= {name: _count(name, given[name]) for name in COUNTS if name in given}
    if "overlap" in given:
        found["overlap"] = _overlap(given["overlap"])
    if found.get("catch_up_ms", LEAST_CATCH_UP_MS) < LEAST_CATCH_UP_MS:
        raise BadSchedule("catch_up must be at least 1m, which a change of the curator may take")
    return found


def rule_of(schedule: Schedule) -> Rule:
    """Return the rule of a row; UnknownZone if the zone is no longer known here."""
    return read(
        schedule.rule,
        schedule.zone,
        starts_at=schedule.starts_at,
        ends_at=schedule.ends_at,
        anchor=schedule.starts_at or schedule.created_at,
    )


def next_of(schedule: Schedule, now: datetime) -> datetime:
    """Return its next moment, or refuse a rule that has none."""
    try:
        return check_fires(rule_of(schedule), now)
    except BadRule as error:
        raise BadSchedule(str(error)) from error


def check_name(name: Any) -> str:
    is_text = isinstance(name, str) and 0 < len(name) <= LONGEST_NAME
    if not is_text or name != name.strip() or "/" in name or not name.isprintable():
        raise BadSchedule(
            f"a schedule's name has 1 to {LONGEST_NAME} characters without / and line breaks"
        )
    if reason := json_refusal(name):
        raise BadSchedule(f"the name cannot be stored: {reason}")
    return name


def span(name: str, given: Any) -> int:
    """Read milliseconds, or a span such as 5m."""
    value = milliseconds(given) if isinstance(given, str) else given
    if isinstance(value, bool) or not isinstance(value, int):
        raise BadSchedule(f"{name} must be a span such as 90s or 5m, or milliseconds")
    if not 0 <= value <= LONGEST_SPAN_MS:
        raise BadSchedule(f"{name} must be from 0 to 366 days")
    return value


def _when(given: Mapping[str, Any], before: Schedule, now: datetime) -> dict[str, Any]:
    found: dict[str, Any] = {}
    zone = zone_named(given.get("zone", before.zone))
    if "zone" in given:
        found["zone"] = given["zone"]
    for name in ("starts_at", "ends_at"):
        if name in given:
            found[name] = None if given[name] is None else moment(name, given[name], zone)
    if "rule" in given:
        start = found.get("starts_at", before.starts_at)
        found["rule"] = _stored(given["rule"], zone, before, start or now.replace(microsecond=0))
    return found


def _stored(rule: Any, zone: ZoneInfo, before: Schedule, anchor: datetime) -> dict[str, Any]:
    """Return the rule with its spans in milliseconds, and an interval with its anchor."""
    if isinstance(rule, Mapping) and isinstance(rule.get("every"), str):
        every = milliseconds(rule["every"])
        if every is None:
            raise BadRule(f"every must be a span such as 90m, not {shown(rule['every'])}")
        rule = {**rule, "every": every}
    read(rule, zone.key, anchor=anchor)
    if "every" not in rule:
        return dict(rule)
    same = (before.rule or {}).get("every") == rule["every"] and before.rule.get("anchor")
    given = rule.get("anchor") or same
    at = moment("anchor", given, zone) if given else anchor
    return {"every": rule["every"], "anchor": at.isoformat()}


def _count(name: str, given: Any) -> int | None:
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, int) or not 1 <= given <= MOST_RUNS:
        raise BadSchedule(f"{name} must be a whole number from 1, or nothing for no limit")
    return given


def _overlap(given: Any) -> str:
    if given not in list(Overlap):
        raise BadSchedule(f"overlap must be one of {', '.join(Overlap)}, not {shown(given)}")
    return str(given)
