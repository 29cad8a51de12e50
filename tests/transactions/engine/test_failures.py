"""Completions and roll backs that fail, and transactions that run out of time."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from allocation.transactions import (
    FailedToComplete,
    FailedToRollBack,
    JobIsFailed,
    JobIsTimedOut,
    RollbackCausedByException,
    Transaction,
)
from allocation.transactions.curator.expired import expired_transactions
from allocation.transactions.models import Lock
from atributo_site.core.models.clock import database_now
from tests.transactions.engine.plans import change_everything, six_calls
from tests.transactions.engine.poison import poisoned

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_completion_that_fails_says_so_and_commits_nothing(store, let_expire, lease, now):
    txn = Transaction(store)
    txn.put("c", "old", {"v": 1})
    with (
        poisoned("allocation_transaction", "NEW.status = 'completed'"),
        pytest.raises(FailedToComplete) as met,
    ):
        txn.complete()
    assert "poisoned" in str(met.value.exception_failing_completion)
    assert "Traceback" in met.value.stacktrace_failing_completion
    assert met.value.in_doubt is False and txn.is_failed
    for call in six_calls(txn):
        with pytest.raises(JobIsFailed):
            call()


def test_an_explicit_roll_back_that_fails_has_no_trigger(store):
    txn = Transaction(store)
    txn.put("c", "old", {"v": 1})
    with (
        poisoned("allocation_document", "NEW.key = 'old'"),
        pytest.raises(FailedToRollBack) as met,
    ):
        txn.roll_back()
    assert "poisoned" in str(met.value.exception_failing_rollback)
    assert "Traceback" in met.value.stacktrace_failing_rollback
    assert met.value.exception_causing_rollback is None
    assert met.value.stacktrace_causing_rollback is None
    for call in six_calls(txn):
        with pytest.raises(JobIsFailed):
            call()


def test_an_automatic_roll_back_that_fails_names_its_trigger(store):
    txn = Transaction(store)
    txn.put("c", "old", {"v": 1})
    with (
        poisoned("allocation_document", "NEW.key = 'old'"),
        pytest.raises(FailedToRollBack) as met,
    ):
        txn.put("c", "doomed", {"v": object()})
    assert "object" in str(met.value.exception_causing_rollback)
    assert "Traceback" in met.value.stacktrace_causing_rollback
    assert "poisoned" in str(met.value.exception_failing_rollback)


@pytest.mark.parametrize("position", range(6))
def test_out_of_time_every_call_says_so_and_the_changes_are_undone(store, let_expire, position):
    txn = Transaction(store)
    new = change_everything(txn)
    let_expire(txn)
    with pytest.raises(JobIsTimedOut):
        six_calls(txn)[position]()
    assert store.get("c", new).status_code == 404
    assert [store.get("c", key).json for key in ("old", "doomed")] == [{"v": 0}, {"v": 0}]
    assert not Lock.objects.exists()
    for call in six_calls(txn):
        with pytest.raises(JobIsTimedOut):
            call()


def test_a_renewed_transaction_lives_on_up_to_its_limit(store, let_expire):
    txn = Transaction(store)
    let_expire(txn, seconds=30)
    renewed = txn.renew()
    row = txn_row(txn)
    assert renewed == row.expires_at <= row.limit_at
    assert (row.expires_at - row.started_at).total_seconds() > 30


def test_renewing_after_the_end_is_refused(store, let_expire):
    txn = Transaction(store)
    let_expire(txn)
    with pytest.raises(JobIsTimedOut):
        txn.renew()


@pytest.mark.parametrize("hours", [-1, 1])
def test_a_client_whose_clock_is_wrong_is_treated_like_any_other(store, lease, hours):
    with time_machine.travel(datetime.now(UTC) + timedelta(hours=hours)):
        txn = Transaction(store)
        txn.put("c", "old", {"v": 1})
        assert expired_transactions(database_now(), lease) == 0
        txn.complete()
    assert store.get("c", "old").json == {"v": 1}


def test_an_error_of_the_database_rolls_back(store):
    txn = Transaction(store)
    txn.put("c", "doomed", {"v": 1})
    with (
        poisoned("allocation_document", "NEW.key = 'old'"),
        pytest.raises(RollbackCausedByException),
    ):
        txn.put("c", "old", {"v": 1})
    assert store.get("c", "doomed").json == {"v": 0}


def txn_row(txn):
    from allocation.transactions.models import Transaction as Row

    return Row.objects.get(pk=txn.id)
