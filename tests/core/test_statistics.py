"""PostgreSQL plans by statistics: a table that has just been filled gets some at once."""

import pytest
from django.db import connection

from atributo_site.core.database import dialect
from atributo_site.core.postgresql.statistics import analyse_if_grown
from queues.models import Queue, QueuedJob
from queues.sql import reserve

TABLE = QueuedJob._meta.db_table
LEAST = 300


@pytest.fixture
def empty(transactional_db):
    """A table that was analysed while it was empty; PostgreSQL leaves it alone meanwhile."""
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {TABLE} SET (autovacuum_enabled = false)")
        cursor.execute("SELECT pg_stat_force_next_flush()")
        cursor.execute(f"ANALYZE {TABLE}")
        yield
        cursor.execute(f"ALTER TABLE {TABLE} RESET (autovacuum_enabled)")


def fill(count):
    queue, _ = Queue.objects.get_or_create(name="filled")
    first = QueuedJob.objects.count() + 1
    QueuedJob.objects.bulk_create(
        QueuedJob(id=first + number, queue=queue, script="x") for number in range(count)
    )
    return queue


def analyse():
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_force_next_flush()")
    return analyse_if_grown(TABLE, least=LEAST)


@pytest.mark.only_on("postgresql")
def test_a_table_is_analysed_once_for_what_was_added(empty):
    fill(LEAST)
    assert (analyse(), analyse()) == (True, False)
    fill(LEAST)
    assert analyse() is False  # it has not doubled yet


@pytest.mark.only_on("postgresql")
def test_few_changes_are_left_to_postgresql(empty):
    fill(LEAST - 100)
    assert analyse() is False


@pytest.mark.only_on("postgresql")
def test_jobs_of_a_new_table_are_found_in_their_order(empty):
    """Without statistics all that wait are read and sorted, by an index that knows no queues."""
    queue = fill(4 * LEAST)
    analyse()
    asked = {"slot_id": 1, "epoch": 1, "queue_id": queue.pk, "jobs": 10}
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN {reserve.reserve(dialect())}", asked)
        plan = " ".join(line for (line,) in cursor.fetchall())
    assert "using job_waiting on" in plan
    assert "job_waiting_by_id" not in plan


@pytest.mark.only_on("sqlite")
@pytest.mark.django_db
def test_sqlite_needs_none():
    assert analyse_if_grown(TABLE, least=0) is False
