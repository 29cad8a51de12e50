"""How setup and teardown of a service last ended, as its events tell."""

from dataclasses import dataclass
from datetime import datetime

from allocation.models import Event

SCRIPTS = ("setup", "teardown")
INSTALLED, FAILED = "service.installed", "service.script_failed"
TELLING = (INSTALLED, "service.upgraded", "service.replaced", FAILED)
LOOKED_AT = 50


@dataclass(frozen=True)
class Ended:
    script: str
    outcome: str
    at: datetime
    by: str
    error: str = ""


def last_endings(mount: str) -> list[Ended]:
    """At most one of each script; what an earlier service at the mount did is not told."""
    events = Event.objects.newest_first().filter(subject=f"service:{mount}", kind__in=TELLING)
    told = _of_this_one(list(events[:LOOKED_AT]))
    return [ended for script in SCRIPTS if (ended := _last(script, told))]


def _of_this_one(newest_first: list[Event]) -> list[Event]:
    """Back to its installation, with the failure that a forced one recorded just before."""
    for number, event in enumerate(newest_first):
        if event.kind == INSTALLED:
            has_failed = event.facts.get("setup") == "failed"
            return newest_first[: number + 1 + has_failed]
    return newest_first


def _last(script: str, events: list[Event]) -> Ended | None:
    for number, event in enumerate(events):
        if outcome := _outcome(script, event):
            errors = [each for each in events[number:] if _is_failure(script, each)]
            error = errors[0].facts.get("error", "") if outcome == "failed" and errors else ""
            return Ended(script, outcome, event.at, event.actor, error)
    return None


def _outcome(script: str, event: Event) -> str:
    return "failed" if _is_failure(script, event) else str(event.facts.get(script, ""))


def _is_failure(script: str, event: Event) -> bool:
    return event.kind == FAILED and event.facts.get("script") == script
