"""List incidents: what is wrong now, with or without a curator, and what was wrong before."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Case, IntegerField, Value, When

from atributo_site.core.incidents.symptom import RANKS, Symptom
from atributo_site.core.models import Lease
from atributo_site.core.models.event import stored_subject
from atributo_site.curator.leadership import ROLE as CURATOR
from atributo_site.models import Incident
from atributo_site.status.snapshot import state_of_everything
from atributo_site.status.symptoms import symptoms

MOST = 100
LATELY = timedelta(days=1)
BY_SEVERITY = Case(
    *(When(severity=name, then=Value(rank)) for name, rank in RANKS.items()),
    output_field=IntegerField(),
)


@dataclass(frozen=True)
class Incidents:
    """The open ones, the resolved ones of a time, and whether there are more of these."""

    open: list[Incident]
    resolved: list[Incident]
    more: bool


def incidents(
    now: datetime,
    *,
    severity: str = "",
    since: datetime | None = None,
    until: datetime | None = None,
    most: int = MOST,
) -> Incidents:
    """Return those that were wrong at some moment of the time, by default the last day."""
    wanted = {"severity": severity} if severity else {}
    ended = Incident.objects.filter(resolved_at__gte=since or now - LATELY, **wanted)
    if until is not None:
        ended = ended.filter(opened_at__lt=until)
    resolved = list(ended.order_by(BY_SEVERITY, "-resolved_at", "-pk")[: most + 1])
    present = [
        row
        for row in open_now(symptoms(state_of_everything(now)), now)
        if row.severity == (severity or row.severity) and (until is None or row.opened_at < until)
    ]
    return Incidents(present, resolved[:most], len(resolved) > most)


def open_now(present: list[Symptom], now: datetime) -> list[Incident]:
    """Return the open rows with what is wrong but not stored yet, the worst and newest first."""
    rows = {row.key: row for row in Incident.objects.unresolved()}
    new = [unstored(each, now) for each in present if each.key not in rows]
    return sorted([*rows.values(), *new], key=_order)


def merged(attention: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add the row of each item, where a curator has stored one; acknowledged ones come last."""
    rows = {row.key: row for row in Incident.objects.unresolved()}
    items = []
    for item in attention:
        row = rows.get((item["kind"], stored_subject(item["subject"])))
        is_acknowledged = row is not None and row.acknowledged_at is not None
        items.append({**item, "incident": row, "is_acknowledged": is_acknowledged})
    return sorted(items, key=lambda item: item["is_acknowledged"])


def count_open() -> int:
    """Count what nobody has acknowledged; a missing curator cannot be stored by a curator."""
    has_curator = Lease.objects.held().filter(role=CURATOR).exists()
    return Incident.objects.unacknowledged().count() + (not has_curator)


def unstored(symptom: Symptom, now: datetime) -> Incident:
    """Return a symptom as the row that no curator has stored yet."""
    kind, subject = symptom.key
    return Incident(
        kind=kind,
        subject=subject,
        severity=symptom.severity,
        title=symptom.title,
        detail=symptom.detail,
        command=symptom.command,
        cure=symptom.cure.stored() if symptom.cure else {},
        affected=symptom.affected,
        since=symptom.since,
        opened_at=symptom.since or now,
        last_seen_at=now,
    )


def _order(row: Incident) -> tuple[Any, ...]:
    return row.acknowledged_at is not None, RANKS[row.severity], -row.opened_at.timestamp()
