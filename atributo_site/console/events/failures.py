"""Put jobs that failed on the timeline, as groups of one error: no job has an event of its own."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.urls import reverse
from django.utils.http import urlencode

from atributo_site.console.events.folding import Steps, every_event
from atributo_site.console.events.sentences import failures_sentence
from atributo_site.core.incidents.symptom import Severity
from atributo_site.core.models import Event
from atributo_site.web.pagination import KeysetPage
from queues.queries.failures import groups_between

MOST_GROUPS = 20
MOMENT = timedelta(microseconds=1)
NARROWING = ("subject", "kind", "actor", "by")  # failed jobs have none of these


@dataclass(frozen=True)
class Failures:
    """One error of several jobs, shown like an event at the moment of the last one."""

    at: datetime
    sentence: str
    address: str  # of the list of exactly these jobs
    severity = Severity.ERROR


def with_failures(
    page: KeysetPage, given: dict[str, Any], now: datetime
) -> list[Event | Steps | Failures]:
    """Return the rows of the page with the failures of its time, newest first."""
    if any(given[name] for name in NARROWING) or given["severity"] not in ("", Severity.ERROR):
        return page.rows
    since, until = _time_of(page, given)
    found = groups_between(since, until, MOST_GROUPS)
    rows = [*page.rows, *(_failures(group, since, until, now) for group in found)]
    return sorted(rows, key=lambda row: row.at, reverse=True) if found else page.rows


def _time_of(page: KeysetPage, given: dict[str, Any]) -> tuple[datetime | None, datetime | None]:
    """Return the time that the page tells of; the first one goes on to now, the last one to all."""
    moments = [event.at for event in every_event(page.rows)]
    since = min(moments) if page.after and moments else given["since"]
    until = max(moments) + MOMENT if page.before and moments else given["until"]
    return since, until


def _failures(
    group: dict[str, Any], since: datetime | None, until: datetime | None, now: datetime
) -> Failures:
    period = {
        name: moment.isoformat() for name, moment in (("since", since), ("until", until)) if moment
    }
    asked = {"state": "failed", "fingerprint": group["fingerprint"], **period}
    seconds = (group["last"] - group["first"]).total_seconds()
    return Failures(
        group["last"],
        failures_sentence(group["count"], group["error"], seconds),
        f"{reverse('atributo:jobs')}?{urlencode(asked)}",
    )
