"""Look for names in tables of any size: every look is bounded by an index."""

from typing import Any

from django.db import connections
from django.db.models import Model, Q

WINDOW = 5_000  # rows whose names are compared letter by letter

# From value to value by the index that begins with the column, however many rows share one.
DISTINCT = """
WITH RECURSIVE known(value, number) AS (
    SELECT (SELECT min({column}) FROM {table} WHERE {column} > '' AND {condition}), 1
    UNION ALL
    SELECT (SELECT min({column}) FROM {table} WHERE {column} > known.value AND {condition}),
           known.number + 1
    FROM known WHERE known.value IS NOT NULL AND known.number < %s
)
SELECT {wanted} FROM known WHERE known.value IS NOT NULL"""
NEWEST = "(SELECT max(id) FROM {table} WHERE {column} = known.value AND {condition})"


def holding(words: list[str], *columns: str) -> Q:
    """Match rows where each word is a part of one of the columns, in any case of letters."""
    found = Q()
    for word in words:
        anywhere = Q()
        for column in columns:
            anywhere |= Q(**{f"{column}__icontains": word})
        found &= anywhere
    return found


def newest(rows: Any, most: int = WINDOW) -> Any:
    """Return only rows with the highest keys, the newest first."""
    floor = _key_at(rows.order_by("-pk"), most)
    return (rows if floor is None else rows.filter(pk__gt=floor)).order_by("-pk")


def first(rows: Any, most: int = WINDOW) -> Any:
    """Return only rows with the lowest keys, in their order."""
    ceiling = _key_at(rows.order_by("pk"), most)
    return (rows if ceiling is None else rows.filter(pk__lt=ceiling)).order_by("pk")


def _key_at(rows: Any, place: int) -> Any:
    return next(iter(rows.values_list("pk", flat=True)[place : place + 1]), None)


def distinct_values(
    model: type[Model], column: str, most: int, condition: str = "1 = 1"
) -> list[str]:
    """Return the first values of a column that an index begins with; all names are constants."""
    return [value for (value,) in _distinct(model, "known.value", column, most, condition)]


def newest_of_each(model: type[Model], column: str, most: int, condition: str) -> list[int]:
    """Return the highest key of each of these values."""
    return [key for (key,) in _distinct(model, NEWEST, column, most, condition)]


def _distinct(
    model: type[Model], wanted: str, column: str, most: int, condition: str
) -> list[tuple[Any, ...]]:
    names = {"table": model._meta.db_table, "column": column, "condition": condition}
    statement = DISTINCT.format(**names, wanted=wanted.format(**names))
    with connections[model._default_manager.db].cursor() as cursor:
        cursor.execute(statement, [most])
        return cursor.fetchall()
