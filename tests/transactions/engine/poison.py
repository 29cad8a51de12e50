"""A database that refuses to write one key or one table, as a broken one would."""

from contextlib import contextmanager

from django.db import connection

SQLITE = """CREATE TRIGGER poison BEFORE UPDATE ON {table}
WHEN {when} BEGIN SELECT RAISE(ABORT, 'poisoned'); END"""
POSTGRESQL = """CREATE FUNCTION poison() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'poisoned'; END $$;
CREATE TRIGGER poison BEFORE UPDATE ON {table}
FOR EACH ROW WHEN ({when}) EXECUTE FUNCTION poison()"""


@contextmanager
def poisoned(table, when):
    """Inside, an UPDATE of a row of the table fails when the condition on NEW holds."""
    poison(table, when)
    try:
        yield
    finally:
        cure(table)


def poison(table, when):
    create = SQLITE if connection.vendor == "sqlite" else POSTGRESQL
    _execute(create.format(table=table, when=when))


def cure(table):
    if connection.vendor == "sqlite":
        _execute("DROP TRIGGER IF EXISTS poison")
    else:
        _execute(f"DROP TRIGGER IF EXISTS poison ON {table}; DROP FUNCTION IF EXISTS poison()")


def _execute(sql):
    with connection.cursor() as cursor:
        cursor.execute(sql)
