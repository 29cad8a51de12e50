"""Look for names in tables of any size: every look is bounded by an index."""

from typing import Any

from django.db import connections
from django.db.models import CharField, Model, Q, Subquery, Value
from django.db.models.functions import Coalesce

from atributo_site.core.models.fields import LARGEST_KEY

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


def newest(rows: Any, most: int = WINDOW, by: str = "pk") -> Any:
    """Return only the rows with the highest numbers, the newest first."""
    floor = Coalesce(_at(rows.order_by(f"-{by}"), by, most), Value(-1))
    return rows.filter(**{f"{by}__gt": floor}).order_by(f"-{by}")


def first(rows: Any, most: int = WINDOW) -> Any:
    """Return only the rows with the lowest keys, in their order."""
    is_text = isinstance(rows.model._meta.pk, CharField)
    beyond = Value(chr(0x10FFFF)) if is_text else Value(LARGEST_KEY)
    ceiling = Coalesce(_at(rows.order_by("pk"), "pk", most), beyond)
    return rows.filter(pk__lt=ceiling).order_by("pk")


def _at(rows: Any, column: str, place: int) -> Subquery:
    return Subquery(rows.values(column)[place : place + 1])


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
