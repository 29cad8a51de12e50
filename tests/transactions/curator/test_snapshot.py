"""What the dashboard shows, and that it costs the same however much has happened."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from allocation.transactions import Transaction
from allocation.transactions.curator.expired import expired_transactions
from allocation.transactions.curator.status import snapshot
from allocation.transactions.models import Transaction as Row
from atributo_site.core.models.clock import database_now
from tests.factories.finished_transactions import finished_transactions
from tests.factories.statistics import analyse
from tests.transactions.engine.plans import plan_of

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_snapshot_counts_what_is_open_and_what_ended_lately(store, let_expire):
    done, gone, running = (Transaction(store) for _ in range(3))
    done.complete()
    gone.roll_back()
    running.put("c", "old", {"v": 1})
    let_expire(running)
    seen = snapshot(database_now())
    assert (seen["active"], seen["stuck"], seen["locks"], seen["overdue"]) == (1, 0, 1, 1)
    assert (seen["completed_last_hour"], seen["rolled_back_last_hour"]) == (1, 1)
    assert seen["oldest_seconds"] >= 0


def test_a_snapshot_takes_as_many_queries_with_many_rows(store):
    snapshot(database_now())  # it prepares statements
    with CaptureQueriesContext(connection) as few:
        snapshot(database_now())
    finished_transactions(500)
    with CaptureQueriesContext(connection) as many:
        snapshot(database_now())
    assert len(few) == len(many) <= 8


def test_a_sweep_reads_only_what_is_overdue(store, let_expire, lease):
    finished_transactions(2000)
    expired = Transaction(store)
    expired.put("c", "old", {"v": 1})
    let_expire(expired)
    analyse(Row)
    overdue = Row.objects.overdue(database_now()).order_by("expires_at")[:100]
    assert "transaction_unfinished" in plan_of(overdue)
    assert expired_transactions(database_now(), lease) == 1


@pytest.mark.soak
def test_a_sweep_over_a_million_reads_only_what_is_overdue(store, lease):
    finished_transactions(1_000_000)
    for number in range(100):
        Transaction(store).put("many", str(number), {"v": number})
    Row.objects.unfinished().update(expires_at="2000-01-01T00:00Z")
    analyse(Row)
    overdue = Row.objects.overdue(database_now()).order_by("expires_at")[:100]
    assert "transaction_unfinished" in plan_of(overdue)
    assert expired_transactions(database_now(), lease) == 100
    with CaptureQueriesContext(connection) as captured:
        assert expired_transactions(database_now(), lease) == 0
    assert len(captured) == 2


def test_old_transactions_are_found_by_their_index(store):
    finished_transactions(2000)
    analyse(Row)
    old = Row.objects.finished().filter(finished_at__lt="2020-01-01T00:00Z")
    assert "transaction_finished" in plan_of(old.order_by("finished_at")[:500])
