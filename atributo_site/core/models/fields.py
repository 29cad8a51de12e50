"""The type of keys and instance ids, and the range of rows that belongs to a period."""

from datetime import datetime, timedelta
from typing import Any

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper

from atributo_site.core.ids import LONGEST

LARGEST_KEY = 2**63 - 1
STEP = timedelta(hours=1)  # so far the database's clock may go back without hiding a row


class IdField(models.CharField):
    """Store text that both databases order by code point, as Python does.

    PostgreSQL would otherwise order by its locale, and Django would add a second index for
    prefixes, which this collation does not need.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs["max_length"] = LONGEST
        super().__init__(*args, **kwargs)

    def deconstruct(self) -> tuple[Any, Any, Any, Any]:
        name, path, args, kwargs = super().deconstruct()
        del kwargs["max_length"]
        return name, path, args, kwargs

    def db_type(self, connection: BaseDatabaseWrapper) -> str | None:
        if connection.vendor == "postgresql":
            return f'character varying({self.max_length}) COLLATE "C"'
        return super().db_type(connection)

    def cast_db_type(self, connection: BaseDatabaseWrapper) -> str | None:
        return super().db_type(connection)


def within_period(rows: Any, since: datetime | None, until: datetime | None) -> Any:
    """Narrow the keys of rows that are only ever added and that have an index on `at`."""
    every = rows.model._default_manager.using(rows.db)
    if since is not None:
        before = every.filter(at__lt=since - STEP).order_by("-at", "-pk")
        rows = rows.filter(pk__gt=_first_key(before, 0))
    if until is not None:
        later = every.filter(at__gte=until + STEP).order_by("at", "pk")
        rows = rows.filter(pk__lt=_first_key(later, LARGEST_KEY))
    return rows


def _first_key(rows: Any, otherwise: int) -> int:
    key = rows.values_list("pk", flat=True).first()
    return otherwise if key is None else key
