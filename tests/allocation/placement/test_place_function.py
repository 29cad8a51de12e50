"""What PostgreSQL places in one call takes the locks that the rest of the room takes."""

import pytest
from django.db import connection
from django.db.transaction import atomic

from allocation.atributo import Atributo
from allocation.models import Allocation, Instance
from allocation.placement.candidates import fresh
from allocation.storage import Placement, postgresql, postgresql_sql, store

pytestmark = [pytest.mark.django_db, pytest.mark.only_on("postgresql")]
SHARED = """
SELECT classid, objid FROM pg_locks
WHERE locktype = 'advisory' AND mode = 'ShareLock' AND pid = pg_backend_pid()
"""
LIST = (0, postgresql_sql.AVAILABILITY_LOCK)


def shared_locks():
    with connection.cursor() as cursor:
        cursor.execute(SHARED)
        return set(cursor.fetchall())


def placement(version, capacity):
    return Placement("job", "instance", version, "hash", 1, None, "actor", "rest", capacity)


def test_the_function_takes_the_locks_of_the_list_and_of_the_job():
    with atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT allocation_place('j', 'i', -1, 's', 1, NULL, 'a', 'c', 7, 0)")
        assert cursor.fetchone() == (False,)  # no list has that version
        assert shared_locks() == {LIST, (postgresql_sql.JOB_LOCKS, 7)}


@pytest.mark.parametrize("capacity", [None, 5])
def test_what_is_placed_in_a_transaction_holds_the_locks_until_its_end(capacity):
    Atributo().available("instance", capacity=capacity)
    with atomic():
        assert store().place(placement(fresh("default").version, capacity)).placed == "instance"
        assert LIST in shared_locks()


@pytest.mark.parametrize("capacity", [None, 5])
def test_what_is_not_placed_in_a_transaction_gives_the_locks_back(capacity):
    Atributo().available("instance", capacity=capacity)
    with atomic():
        result = store().place(placement(-1, capacity))
        assert (result.existing, result.placed) == (None, None)
        assert shared_locks() == set()


def test_a_failed_placement_leaves_the_transaction_of_its_caller_usable():
    Atributo().available("instance", capacity=5)
    with atomic():
        with pytest.raises(Exception, match="too long"):
            store().place(placement(fresh("default").version, 5)._replace(strategy="s" * 999))
        assert shared_locks() == set()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("is_current", [True, False])
def test_a_transaction_that_begins_with_a_placement_needs_no_savepoint(is_current, monkeypatch):
    Atributo().available("instance")
    version = fresh("default").version if is_current else -1
    store().place(placement(version, None))  # prepared from now on
    new = f"new-{is_current}"  # a job that was seen before is looked up first
    monkeypatch.setattr(postgresql, "_pipeline", None)
    with atomic():
        placed = store().place(placement(version, None)._replace(job_id=new)).placed
        assert (placed, LIST in shared_locks()) == (
            ("instance", True) if is_current else (None, False)
        )
        Atributo().available("another")  # the transaction goes on
    assert Instance.objects.count() == 2
    assert Allocation.objects.filter(job_id=new).exists() == is_current
