"""How bad an event is, by its kind: the timeline can be filtered by it."""

from atributo_site.core.incidents.symptom import Severity
from atributo_site.core.models.event import EventQuerySet

OF_KINDS = {
    Severity.ERROR: [
        "instance.dead",
        "job.given_up",
        "pool.failed",
        "process.died",
        "rule.broken",
        "run.lost",
        "script.failed",
        "service.script_failed",
        "transaction.stuck",
    ],
    Severity.WARNING: [
        "allocation.refused",
        "attempt.refused",
        "backend.refused",
        "curator.replaced",
        "doorbell.foreign",
        "id_numbers.expired",
        "incident.opened",
        "instance.drain_stuck",
        "lease.refused",
        "lock.orphan_freed",
        "lock.released",
        "pool.stale",
        "pool.waiting",
        "push.superseded",
        "run.refused",
        "station.away",
        "transaction.curated",
        "transaction.refused",
        "user.login_failed",
    ],
}
SEVERITY_OF = {kind: severity for severity, kinds in OF_KINDS.items() for kind in kinds}


def of_severity(rows: EventQuerySet, severity: str) -> EventQuerySet:
    """Narrow the events, as the last step: a union takes no more filters."""
    if severity in OF_KINDS:
        return rows.of_kinds(OF_KINDS[Severity(severity)])
    return rows.exclude(kind__in=list(SEVERITY_OF)) if severity else rows


def severity_of(kind: str) -> str:
    """Return notice for what goes as it should."""
    return SEVERITY_OF.get(kind, Severity.NOTICE)
