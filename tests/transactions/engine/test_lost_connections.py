"""The database ends a connection in the middle of a transaction."""

from contextlib import closing

import pytest
from django.db import connection, connections

from allocation.transactions import Transaction
from allocation.transactions.models import Lock

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.only_on("postgresql")]


def end_own_connection():
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (pid,) = cursor.fetchone()
    other = connections.create_connection("default")
    with closing(other), other.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])


def test_a_transaction_goes_on_over_a_new_connection(store):
    txn = Transaction(store)
    txn.put("c", "old", {"v": 1})
    end_own_connection()
    txn.put("c", "doomed", {"v": 1})
    end_own_connection()
    txn.complete()
    assert [store.get("c", key).json for key in ("old", "doomed")] == [{"v": 1}, {"v": 1}]
    assert not Lock.objects.exists()


def test_a_new_connection_prepares_its_statements_anew(store):
    txn = Transaction(store)
    txn.put("c", "old", {"v": 1})
    connection.close()
    txn.put("c", "doomed", {"v": 1})
    txn.complete()
    assert store.get("c", "doomed").json == {"v": 1}
