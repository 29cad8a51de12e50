"""The connection is cut while PostgreSQL works; what the caller is told stays true."""

import pytest



from allocation.transactions import Client, FailedToComplete, JobIsRolledBack, Transaction
from allocation.transactions.models import Document, Lock
from allocation.transactions.models import Transaction as Row
from tests.fixtures.wire import held

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.only_on("postgresql")]


def changing():
    txn = Transaction()
    txn.put("c", "old", {"v": 1})
    return txn


def status(txn):
    return Row.objects.get(pk=txn.id).status


def test_a_completion_that_goes_on_after_the_cut_is_told_as_it_ends(wire, store):
    txn = wire.does(changing)
    with held(Row.objects.filter(pk=txn.id)), wire.cut_while_waiting(txn.complete) as completing:
        pass
    assert completing.exception(60) is None
    wire.settled()
    assert (status(txn), store.get("c", "old").json) == ("completed", {"v": 1})


def test_a_completion_whose_end_cannot_be_waited_for_is_in_doubt(wire, store, impatient):
    txn = wire.does(changing)
    with held(Row.objects.filter(pk=txn.id)), wire.cut_while_waiting(txn.complete) as completing:
        told = completing.exception(60)
    assert isinstance(told, FailedToComplete) and told.in_doubt
    wire.settled()
    assert status(txn) == "completed"


def test_a_completion_that_never_arrived_is_rolled_back(wire, store):
    txn = wire.does(changing)
    told = wire.lose_the_question(txn.complete).exception(60)
    assert isinstance(told, FailedToComplete) and not told.in_doubt
    wire.settled()
    assert (status(txn), store.get("c", "old").json) == ("rolled_back", {"v": 0})


def test_a_completion_whose_answer_is_lost_is_a_completion(wire, store):
    txn = wire.does(changing)
    assert wire.lose_the_answer(txn.complete).exception(60) is None
    assert (status(txn), store.get("c", "old").json) == ("completed", {"v": 1})
