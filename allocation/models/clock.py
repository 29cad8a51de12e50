"""The database's clock: the only one that decides when something has expired."""

from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import connections
from django.db.models import DateTimeField, ExpressionWrapper
from django.db.models.functions import Now
from django.utils.dateparse import parse_datetime
from django.utils.timezone import make_aware

from allocation.busy import patiently


def database_now(using: str = "default") -> datetime:
    """Read the clock once; pass the answer on as `now`."""
    connection = connections[using]
    sql = (
        "SELECT clock_timestamp()"
        if connection.vendor == "postgresql"
        else "SELECT strftime('%Y-%m-%d %H:%M:%f', 'now')"
    )
    (value,) = patiently(lambda: _row(sql, using), using, repeatable=True)
    return value if isinstance(value, datetime) else _aware(value)


def _row(sql: str, using: str) -> tuple[Any, ...]:
    with connections[using].cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchone()


def from_now(seconds: float) -> ExpressionWrapper:
    """An expression for the moment `seconds` from now, by the database's clock."""
    return ExpressionWrapper(Now() + timedelta(seconds=seconds), output_field=DateTimeField())


def _aware(text: str) -> datetime:
    moment = parse_datetime(text)
    assert moment is not None, text
    return make_aware(moment, UTC)
