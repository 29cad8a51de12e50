"""Indexes that a migration wants on tables with rows, built when its transaction is over.

Which ones are missing stands in a table of its own: the migration's transaction writes it, so a
`migrate` that is killed is repeated and goes on there. An INVALID index, which a killed build
leaves behind, is dropped and built anew. When nothing is missing there is no such table.
"""

from collections.abc import Callable
from typing import Any

from django.db import ProgrammingError

TABLE = "atributo_pending_index"
CREATE = f"""
    CREATE TABLE IF NOT EXISTS {TABLE} (
        id bigserial PRIMARY KEY,
        name text NOT NULL UNIQUE,
        on_table text NOT NULL,
        statement text NOT NULL
    )"""
ADD = f"""
    INSERT INTO {TABLE} (name, on_table, statement)
    VALUES (%(name)s, %(table)s, %(statement)s)
    ON CONFLICT (name) DO UPDATE SET
        on_table = EXCLUDED.on_table, statement = EXCLUDED.statement"""  # nosec B608 # of constants only
FORGET = f"DELETE FROM {TABLE} WHERE name = %(name)s"  # nosec B608 # of constants only
LIST = f"SELECT name, on_table, statement FROM {TABLE} ORDER BY id"  # nosec B608 # of constants only
IS_VALID = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(quote_ident(%(name)s))"
EXISTS = "SELECT to_regclass(%(name)s) IS NOT NULL"
GONE = {"42P01", "42703"}  # the table or a column was removed by a later migration


def add(connection: Any, name: str, table: str, statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(CREATE)
        cursor.execute(ADD, {"name": name, "table": table, "statement": statement})


def forget(connection: Any, name: str) -> None:
    with connection.cursor() as cursor:
        if _exists(cursor):
            cursor.execute(FORGET, {"name": name})


def pending(connection: Any) -> list[str]:
    """Return the names of the indexes that are still to be built."""
    if connection.vendor != "postgresql":
        return []
    with connection.cursor() as cursor:
        return [name for name, _, _ in _listed(cursor)]


def build(connection: Any, say: Callable[[str], None]) -> None:
    """Build them one by one while readers and writers go on."""
    with connection.cursor() as cursor:
        for name, table, statement in _listed(cursor):
            say(f"Building the index {name} on {table}; the site can go on.")
            _build(cursor, name, statement)
            cursor.execute(FORGET, {"name": name})
        if _exists(cursor):
            cursor.execute(f"DROP TABLE {TABLE}")


def _build(cursor: Any, name: str, statement: str) -> None:
    cursor.execute(IS_VALID, {"name": name})
    row = cursor.fetchone()
    if row == (True,):  # built, and killed before that was noted
        return
    if row is not None:
        cursor.execute(f"DROP INDEX CONCURRENTLY {cursor.db.ops.quote_name(name)}")
    try:
        cursor.execute(statement)
    except ProgrammingError as error:
        if getattr(error.__cause__, "sqlstate", "") not in GONE:
            raise


def _listed(cursor: Any) -> list[tuple[str, str, str]]:
    if not _exists(cursor):
        return []
    cursor.execute(LIST)
    return cursor.fetchall()


def _exists(cursor: Any) -> bool:
    cursor.execute(EXISTS, {"name": TABLE})
    return cursor.fetchone()[0]
