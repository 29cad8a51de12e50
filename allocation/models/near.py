"""The part of a key where a time is: ids grow with it, but for a clock that steps."""

from datetime import datetime, timedelta
from typing import Any

LARGEST_KEY = 2**63 - 1
STEP = timedelta(hours=1)  # that the database's clock may go back without hiding a row


def near(rows: Any, since: datetime | None, until: datetime | None) -> Any:
    """Of rows that are only ever added, with an index of when: `at`."""
    every = rows.model._default_manager.using(rows.db)
    if since is not None:
        before = every.filter(at__lt=since - STEP).order_by("-at", "-pk")
        rows = rows.filter(pk__gt=_first_key(before, 0))
    if until is not None:
        later = every.filter(at__gte=until + STEP).order_by("at", "pk")
        rows = rows.filter(pk__lt=_first_key(later, LARGEST_KEY))
    return rows


def _first_key(rows: Any, otherwise: int) -> int:
    found = rows.values_list("pk", flat=True).first()
    return otherwise if found is None else found
