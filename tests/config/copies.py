"""Make many copies of one row in the database itself."""

from typing import Any

from django.apps import apps
from django.db import connection
from django.db.models import Model

from tests.factories.statistics import analyse

SERIES = {
    "sqlite": "(WITH RECURSIVE s(n) AS (SELECT {first} UNION ALL SELECT n + 1 FROM s"
    " WHERE n < {last}) SELECT n FROM s) AS series",
    "postgresql": "generate_series({first}, {last}) AS series(n)",
}


def copies(row: Model, count: int, first: int = 0, **expressions: str) -> None:
    """Insert `count` rows like this one; an expression may use `n`, which goes up from `first`."""
    fields = [field for field in row._meta.fields if field.column != "id" or "id" in expressions]
    columns = [field.column for field in fields]
    chosen = [expressions.get(column, f"t.{column}") for column in columns]
    series = SERIES[connection.vendor].format(first=first, last=first + count - 1)
    table, key = row._meta.db_table, row._meta.pk.column
    _execute(
        f"INSERT INTO {table} ({', '.join(columns)}) "
        f"SELECT {', '.join(chosen)} FROM {table} t, {series} WHERE t.{key} = %s",
        [row.pk],
    )


def ago(seconds: str) -> str:
    """Return an expression for the moment so many seconds before now."""
    if connection.vendor == "sqlite":
        return f"strftime('%%Y-%%m-%%d %%H:%%M:%%f', 'now', '-' || ({seconds}) || ' seconds')"
    return f"now() - ({seconds}) * interval '1 second'"


def analyze() -> None:
    """Analyze as autovacuum does; SQLite chooses its indexes without."""
    if connection.vendor == "postgresql":
        models = [model._meta for model in apps.get_models()]
        analyse(*(meta.model for meta in models if meta.managed and not meta.proxy))


def _execute(sql: str, parameters: list[Any] | None = None) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
