"""The database's clock, the only one that decides when something has expired."""

from datetime import UTC, datetime, timedelta

from django.db import connections
from django.db.models import DateTimeField, ExpressionWrapper
from django.db.models.functions import Now
from django.utils.dateparse import parse_datetime
from django.utils.timezone import make_aware

from atributo_site.core.database import dialect, execute
from atributo_site.core.errors import ConnectionLost


def database_now(using: str = "default") -> datetime:
    """Read the clock once; pass the answer on as `now`."""
    clock = f"SELECT {dialect(using).clock}"
    try:
        [[value]] = execute(clock, {}, using).rows
    except ConnectionLost:  # like any read, it is tried once more
        if connections[using].in_atomic_block:
            raise
        [[value]] = execute(clock, {}, using).rows
    return value if isinstance(value, datetime) else _aware(value)


def from_now(seconds: float) -> ExpressionWrapper:
    """Return an expression for the moment `seconds` from now, by the database's clock."""
    return ExpressionWrapper(Now() + timedelta(seconds=seconds), output_field=DateTimeField())


def _aware(text: str) -> datetime:
    moment = parse_datetime(text)
    assert moment is not None, text
    return make_aware(moment, UTC)
