"""The connection is cut while PostgreSQL works; what the caller is told stays true."""

import pytest
from django.db.transaction import atomic

from allocation.transactions import (
    Client,
    FailedToComplete,
    FailedToRollBack,
    JobIsRolledBack,
    RollbackCausedByException,
    Transaction,
)
from allocation.transactions.engine.audited import AuditedTransaction
from allocation.transactions.models import (
    Document,
    DocumentEvent,
    DocumentVersion,
    Lock,
    Relation,
)
from allocation.transactions.models import Transaction as Row
from atributo_site.core.errors import ConnectionLost
from atributo_site.core.models import Event
from atributo_site.core.retry import retry_busy
from tests.fixtures.wire import held, what_is_said

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.only_on("postgresql")]


def changing():
    """The statements of a completion are prepared already: the next message is the real one."""
    with Transaction() as other:
        other.put("c", "other", {})
    txn = Transaction()
    txn.put("c", "old", {"v": 1})
    return txn


def row_of(txn):
    return Row.objects.filter(pk=txn.id)


def status(txn):
    return row_of(txn).get().status


def old():
    return Document.objects.filter(collection="c", key="old")


def versions(key):
    return DocumentVersion.objects.of("c", key).count()


def test_a_completion_that_goes_on_after_the_cut_is_told_as_it_ends(wire, store):
    txn = wire.does(changing)
    with held(row_of(txn)):
        completing = wire.cut_while_waiting(txn.complete)
    assert completing.exception(60) is None
    wire.settled()
    assert (status(txn), store.get("c", "old").json) == ("completed", {"v": 1})


def test_a_completion_whose_end_cannot_be_waited_for_is_in_doubt(wire, store, hurry):
    txn = wire.does(changing)
    with held(row_of(txn)):
        hurry()
        told = wire.cut_while_waiting(txn.complete).exception(60)
    assert isinstance(told, FailedToComplete) and told.in_doubt
    wire.settled()
    assert status(txn) == "completed"
    Transaction.attach(txn.id).complete()  # this is how one finds out


def test_a_completion_that_never_arrived_is_rolled_back(wire, store):
    txn = wire.does(changing)
    told = wire.lose_the_question(txn.complete).exception(60)
    assert isinstance(told, FailedToComplete) and not told.in_doubt
    wire.settled()
    assert (status(txn), store.get("c", "old").json) == ("rolled_back", {"v": 0})
    assert not Lock.objects.exists()
    with pytest.raises(JobIsRolledBack):
        Transaction.attach(txn.id).complete()


def test_a_completion_whose_answer_is_lost_is_a_completion(wire, store):
    txn = wire.does(changing)
    assert wire.lose_the_answer(txn.complete).exception(60) is None
    assert (status(txn), store.get("c", "old").json) == ("completed", {"v": 1})


def test_an_operation_that_goes_on_after_the_cut_is_rolled_back_with_the_others(wire, store):
    txn = wire.does(changing)
    with held(Document.objects.filter(key="doomed")):
        putting = wire.cut_while_waiting(lambda: txn.put("c", "doomed", {"v": 1}))
    told = putting.exception(60)
    wire.settled()
    assert isinstance(told, RollbackCausedByException)
    assert isinstance(told.exception_causing_rollback, ConnectionLost)
    assert (status(txn), Lock.objects.count()) == ("rolled_back", 0)
    assert [store.get("c", key).json for key in ("old", "doomed")] == [{"v": 0}, {"v": 0}]


@pytest.mark.parametrize("lose", ["lose_the_answer", "lose_the_question"])
def test_a_lock_whose_answer_is_lost_is_freed_with_its_transaction(wire, store, lose):
    txn = wire.does(changing)
    told = getattr(wire, lose)(lambda: txn.lock("c", "doomed")).exception(60)
    assert isinstance(told, RollbackCausedByException)
    assert (status(txn), Lock.objects.count()) == ("rolled_back", 0)


def test_a_roll_back_that_is_cut_off_ends_all_the_same(wire, store):
    txn = wire.does(changing)
    with held(old()):
        rolling = wire.cut_while_waiting(txn.roll_back)
    assert rolling.exception(60) is None
    wire.settled()
    assert (status(txn), store.get("c", "old").json) == ("rolled_back", {"v": 0})


@pytest.mark.parametrize("to", ["UPDATE", "COMMIT"])
def test_a_roll_back_whose_answer_is_lost_is_told_as_it_ends(wire, store, to):
    """The claim, or the first key that is undone."""
    txn = wire.does(changing)
    told = wire.lose_the_answer(txn.roll_back, to).exception(60)
    assert told is None or isinstance(told, FailedToRollBack)
    assert status(txn) == ("rolled_back" if told is None else "rolling_back")


def test_a_begin_and_a_renewal_are_asked_again(wire, store):
    wire.does(changing)
    txn = wire.lose_the_answer(Transaction).result(60)
    assert wire.lose_the_answer(txn.renew).result(60) == row_of(txn).get().expires_at


@pytest.mark.parametrize("ref", [None, "as it is"])
def test_a_put_that_goes_on_after_the_cut_is_one_version(wire, store, ref):
    demanded = old().get().ref if ref else None
    wire.does(lambda: Client().put("c", "other", {}))
    with held(old()):
        putting = wire.cut_while_waiting(lambda: Client().put("c", "old", {"v": 1}, demanded))
    wire.settled()
    assert putting.result(60).ref == old().get().ref
    assert versions("old") == 2


def test_a_put_whose_answer_is_lost_does_not_undo_what_came_after_it(wire, store, monkeypatch):
    wire.does(lambda: Client().put("c", "old", {"v": 1}))
    meanwhile = lambda _: Client().put("c", "old", {"v": 3})  # noqa: E731
    monkeypatch.setitem(retry_busy.__kwdefaults__, "sleep", meanwhile)
    putting = wire.lose_the_answer(lambda: Client().put("c", "old", {"v": 2}))
    assert putting.result(60).ok
    assert (store.get("c", "old").json, versions("old")) == ({"v": 3}, 4)


@pytest.mark.parametrize("lose", ["lose_the_answer", "lose_the_question"])
def test_a_deletion_with_its_history_is_told_or_in_doubt(wire, store, lose):
    wire.does(lambda: Client().delete("c", "doomed"))
    told = getattr(wire, lose)(lambda: Client().delete("c", "old")).exception(60)
    is_there = store.get("c", "old").ok
    assert (told is None and not is_there) or (told.in_doubt and is_there)


@pytest.mark.parametrize("lose", ["lose_the_commit", "lose_the_question"])
def test_an_event_of_a_key_is_stored_once(wire, store, lose):
    post = lambda: Client().post_event("c", "old", "seen", {"n": 1}, 1000)  # noqa: E731
    posted = getattr(wire, lose)(post).result(60)
    assert DocumentEvent.objects.get().ref == posted.ref


@pytest.fixture
def notes(wire, store):
    """The key `old` has an arrow and an event."""
    wire.does(lambda: Client().put_relation("c", "old", "likes", "c", "doomed"))
    wire.does(lambda: Client().post_event("c", "old", "seen", {"n": 1}, 1000))


CHANGES = {
    "put_relation": (
        lambda: Client().put_relation("c", "doomed", "likes", "c", "old"),
        lambda: Relation.objects.filter(key="doomed").exists(),
    ),
    "delete_relation": (
        lambda: Client().delete_relation("c", "old", "likes", "c", "doomed"),
        lambda: not Relation.objects.exists(),
    ),
    "put_event": (
        lambda: Client().put_event("c", "old", "seen", 1000, 1, {"n": 2}),
        lambda: DocumentEvent.objects.get().value == {"n": 2},
    ),
    "delete_event": (
        lambda: Client().delete_event("c", "old", "seen", 1000, 1),
        lambda: not DocumentEvent.objects.exists(),
    ),
    "drop": (
        lambda: Client().drop("c"),
        lambda: not Document.objects.present().exists() and not DocumentVersion.objects.exists(),
    ),
}
LOST = [  # what is changed, the statement whose question or answer is lost, what is said
    ("put_relation", "lose_the_question", "INSERT", "done", True),
    ("put_relation", "lose_the_answer", "INSERT", "done", True),
    ("put_relation", "lose_the_question", "COMMIT", "done", True),
    ("put_relation", "lose_the_answer", "COMMIT", "done", True),
    ("delete_relation", "lose_the_question", "DELETE", "not done", False),
    ("delete_relation", "lose_the_answer", "DELETE", "not done", False),
    ("delete_relation", "lose_the_question", "COMMIT", "in doubt", False),
    ("delete_relation", "lose_the_answer", "COMMIT", "in doubt", True),
    ("put_event", "lose_the_question", "UPDATE", "in doubt", False),
    ("put_event", "lose_the_answer", "UPDATE", "in doubt", True),
    ("delete_event", "lose_the_question", "DELETE", "not done", False),
    ("delete_event", "lose_the_answer", "DELETE", "not done", False),
    ("delete_event", "lose_the_question", "COMMIT", "in doubt", False),
    ("delete_event", "lose_the_answer", "COMMIT", "in doubt", True),
    ("drop", "lose_the_question", "DELETE", "not done", False),
    ("drop", "lose_the_answer", "UPDATE", "not done", False),
    ("drop", "lose_the_question", "COMMIT", "in doubt", False),
    ("drop", "lose_the_answer", "COMMIT", "in doubt", True),
]


@pytest.mark.parametrize(("change", "lose", "statement", "said", "is_done"), LOST)
def test_a_change_whose_statement_is_cut_off_is_told_as_it_is(
    wire, notes, change, lose, statement, said, is_done
):
    call, done = CHANGES[change]
    assert what_is_said(getattr(wire, lose)(call, statement)) == said
    wire.settled()
    assert done() is is_done
    wire.does(call)  # it may be sent again, and the next call works
    assert done() is True


@pytest.mark.parametrize(
    ("change", "model", "said", "is_done"),
    [
        ("delete_relation", Relation, "not done", False),
        ("put_event", DocumentEvent, "in doubt", True),
        ("delete_event", DocumentEvent, "not done", False),
        ("drop", Document, "not done", False),
    ],
)
def test_a_change_that_waits_is_told_as_it_ends_after_the_cut(
    wire, notes, change, model, said, is_done
):
    call, done = CHANGES[change]
    with held(model.objects.all()):
        changing = wire.cut_while_waiting(call)
        assert what_is_said(changing) == said
    wire.settled()
    assert done() is is_done


def test_inside_a_transaction_of_the_database_nothing_is_written(wire, store):
    def both():
        with atomic():
            Client().put("c", "old", {"v": 1})
            wire.cut()
            Client().put("c", "doomed", {"v": 1})

    told = wire.told(both)
    assert isinstance(told, ConnectionLost) and not told.in_doubt
    assert wire.does(lambda: Client().get("c", "old")).json == {"v": 0}


@pytest.mark.parametrize("lose", ["lose_the_answer", "lose_the_question"])
def test_a_transaction_of_a_door_begins_though_an_answer_is_lost(wire, store, lose):
    wire.does(lambda: AuditedTransaction.begin("token:1"))
    txn = getattr(wire, lose)(lambda: AuditedTransaction.begin("token:1", "again")).result(60)
    assert row_of(txn).get().label == "again"
    assert Event.objects.about(f"transaction:{txn.id}").get().kind == "transaction.began"


def test_the_completion_at_a_door_is_told_once_though_its_answer_is_lost(wire, store):
    txn = wire.does(lambda: AuditedTransaction.begin("token:1"))
    wire.does(lambda: txn.put("c", "old", {"v": 1}))
    assert wire.lose_the_commit(txn.complete).exception(60) is None
    assert status(txn) == "completed"
    kinds = Event.objects.about(f"transaction:{txn.id}").values_list("kind", flat=True)
    assert list(kinds) == ["transaction.began", "transaction.put", "transaction.completed"]
