"""Many at once, and what must hold afterwards."""

from concurrent.futures import ThreadPoolExecutor

from django.db import connection, connections

from allocation.invariants import INVARIANTS


def threads(count, work):
    """work(0) … work(count - 1) at once, each with its own connection."""

    def run(number):
        try:
            return work(number)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, range(count)))


def broken():
    return {name: rows for name, _, find in INVARIANTS if (rows := find())}


def is_waiting():
    """Whether somebody waits for a lock; SQLite cannot tell, its writers simply wait.

    In this database: tests of other processes wait on the same server.
    """
    if connection.vendor == "sqlite":
        return True
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_clear_snapshot()")  # or a transaction sees the same for ever
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE wait_event_type = 'Lock' AND datname = current_database()"
        )
        return cursor.fetchone()[0] > 0
