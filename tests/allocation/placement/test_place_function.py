"""What PostgreSQL places in one call takes the locks that the rest of the room takes."""

import pytest
from django.db import connection
from django.db.transaction import atomic

from allocation.storage import postgresql_sql

pytestmark = [pytest.mark.django_db, pytest.mark.only_on("postgresql")]
SHARED = """
SELECT classid, objid FROM pg_locks
WHERE locktype = 'advisory' AND mode = 'ShareLock' AND pid = pg_backend_pid()
"""


def test_the_function_takes_the_locks_of_the_list_and_of_the_job():
    with atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT allocation_place('j', 'i', -1, 's', 1, NULL, 'a', 'c', 7, 0)")
        assert cursor.fetchone() == (False,)  # no list has that version
        cursor.execute(SHARED)
        assert set(cursor.fetchall()) == {
            (0, postgresql_sql.AVAILABILITY_LOCK),
            (postgresql_sql.JOB_LOCKS, 7),
        }
