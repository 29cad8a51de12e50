"""Count the late writers that were refused."""

from typing import Any

import structlog
from django.db import Error as DatabaseError
from django.db.models import F
from django.db.models.functions import Now
from django.db.transaction import atomic

from atributo_site.core.events import record
from atributo_site.core.models.fence_count import FenceCount

log = structlog.get_logger(__name__)


def count_fenced(kind: str, subject: str, *, times: int = 1, **facts: Any) -> None:
    """Count and record a refusal; if that fails, the refusal itself still stands."""
    log.warning("late_one_refused", kind=kind, subject=subject, **facts)
    try:
        with atomic():
            FenceCount.objects.get_or_create(kind=kind)
            FenceCount.objects.filter(kind=kind).update(refused=F("refused") + times, last_at=Now())
            record(f"{kind}.refused", subject, times=times, **facts)
    except DatabaseError:
        log.warning("refusal_not_recorded", kind=kind)


def fenced() -> dict[str, dict[str, Any]]:
    """Return how many of each kind were refused, and when the last one was."""
    rows = {row.kind: row for row in FenceCount.objects.all()}
    return {
        kind: _as_dict(rows.get(kind) or FenceCount(kind=kind)) for kind in FenceCount.Kind.values
    }


def _as_dict(row: FenceCount) -> dict[str, Any]:
    return {
        "refused": row.refused,
        "last_at": row.last_at,
        "meaning": FenceCount.Kind(row.kind).label,
    }
