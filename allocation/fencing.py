"""Fencing: whoever comes late writes nothing, and is counted."""

from typing import Any

import structlog
from django.db import Error as DatabaseError
from django.db.models import F
from django.db.models.functions import Now
from django.db.transaction import atomic

from allocation.events import record
from allocation.models.fence_count import FenceCount

log = structlog.get_logger(__name__)


def count_fenced(kind: str, subject: str, *, times: int = 1, **facts: Any) -> None:
    """Tell that a late one was refused; that the telling fails must not make it worse."""
    log.warning("late_one_refused", kind=kind, subject=subject, **facts)
    try:
        with atomic():
            FenceCount.objects.get_or_create(kind=kind)
            FenceCount.objects.filter(kind=kind).update(refused=F("refused") + times, last_at=Now())
            record(f"{kind}.refused", subject, times=times, **facts)
    except DatabaseError:
        log.warning("refusal_not_recorded", kind=kind)


def fenced() -> dict[str, dict[str, Any]]:
    """How many of each kind were refused, and when the last one was."""
    counts = {row.kind: {"refused": row.refused, "last_at": row.last_at} for row in _rows()}
    nothing = {"refused": 0, "last_at": None}
    return {kind: counts.get(kind, nothing) for kind in FenceCount.Kind.values}


def _rows() -> list[FenceCount]:
    return list(FenceCount.objects.all())
