"""The connection is cut while PostgreSQL stores jobs or what became of them."""

import time

import pytest

import queues
from allocation.transactions.engine.transaction import Transaction
from allocation.transactions.models import Transaction as Row
from atributo_site.core.errors import AtributoError, ConnectionLost
from atributo_site.core.fencing import FenceCount
from atributo_site.core.models import Event
from atributo_site.core.retry import retry_busy
from queues import audited
from queues.models import HeldPush, Queue, QueuedJob, Run, Slot
from queues.runs import outbox
from queues.runs.reservation import reserve
from queues.runs.slots import acquire
from queues.worker.slot_runner import BatchProgress, SlotRunner
from tests.fixtures.wire import held

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.only_on("postgresql")]
ACT = {"mount": "/probe", "name": "act"}


@pytest.fixture
def push(wire, probe):
    """push(): one more job of the program; its first has prepared the statements."""
    queues.create("work")
    push = lambda: queues.get("work").push(ACT, {"n": 1})  # noqa: E731
    wire.does(push)
    return push


def ids():
    return sorted(str(pk) for pk in QueuedJob.objects.values_list("pk", flat=True))


@pytest.mark.parametrize("lose", ["lose_the_answer", "lose_the_question"])
def test_a_push_whose_answer_is_lost_is_one_job(wire, push, lose):
    before = ids()
    job = getattr(wire, lose)(push).result(60)
    assert ids() == sorted([*before, job])


def test_a_push_that_goes_on_after_the_cut_is_one_job(wire, push):
    before = ids()
    with held(Queue.objects.filter(name="work")):
        pushing = wire.cut_while_waiting(push)
    job = pushing.result(60)
    wire.settled()
    assert ids() == sorted([*before, job])


def test_a_push_that_cannot_be_asked_about_is_in_doubt(wire, push, hurry):
    before = ids()
    with held(Queue.objects.filter(name="work")):
        hurry()
        told = wire.cut_while_waiting(push).exception(60)
    assert isinstance(told, ConnectionLost) and told.in_doubt
    wire.settled()
    assert len(ids()) - len(before) in (0, 1)  # the server may have given up as well


def test_many_pushes_are_stored_once_or_not_at_all(wire, push):
    before = ids()
    many = lambda: queues.get("work").push_many(ACT, [{"n": n} for n in range(3)])  # noqa: E731
    with held(Queue.objects.filter(name="work")):
        pushing = wire.cut_while_waiting(many)
    jobs = pushing.result(60)
    wire.settled()
    assert ids() == sorted([*before, *jobs])
    jobs += wire.lose_the_commit(many, after="INSERT 0 3").result(60)
    assert ids() == sorted([*before, *jobs])


@pytest.mark.parametrize("lose", ["lose_the_answer", "lose_the_question", "lose_the_commit"])
@pytest.mark.parametrize("jobs", [1, 3])
def test_a_push_at_a_door_whose_answer_is_lost_is_one_push_and_one_event(wire, push, lose, jobs):
    before = ids()
    one = lambda: [audited.push("work", ACT, {}, {})]  # noqa: E731
    many = lambda: audited.push_many("work", ACT, [{"n": n} for n in range(jobs)], {})  # noqa: E731
    there = {"after": f"INSERT 0 {jobs}"} if lose == "lose_the_commit" else {}
    pushed = getattr(wire, lose)(one if jobs == 1 else many, **there).result(60)
    assert ids() == sorted([*before, *pushed])
    assert Event.objects.filter(kind__in=["job.pushed", "jobs.pushed"]).count() == 1


def test_a_push_with_a_key_whose_answer_is_lost_is_its_own_job(wire, push):
    keyed = lambda: queues.get("work").push(ACT, {}, unique_key="k")  # noqa: E731
    job = wire.lose_the_answer(keyed).result(60)
    assert job in ids()
    assert wire.does(keyed) == job


@pytest.fixture
def txn(wire, push):
    """A transaction of the program, which has delivered a push of another one."""

    def begin():
        with Transaction() as first:
            queues.get("work").push(ACT, {}, transaction=first)
        return Transaction()

    return wire.does(begin)


def kept():
    return sorted(str(pk) for pk in HeldPush.objects.values_list("pk", flat=True))


def keeping(txn, jobs=1):
    """A push with a transaction, by the library or with an event by a door."""

    def at_a_door():
        with outbox.holding(txn.id):
            return [audited.push("work", ACT, {}, {})]

    many = lambda: queues.get("work").push_many(ACT, [{}] * jobs, transaction=txn)  # noqa: E731
    return at_a_door if jobs == 1 else many


@pytest.mark.parametrize("jobs", [1, 3])
@pytest.mark.parametrize("is_stored", [False, True])
def test_a_push_with_a_transaction_is_kept_once_though_an_answer_is_lost(
    wire, txn, jobs, is_stored
):
    before, insertion = ids(), f"INSERT 0 {jobs}"
    answer = {"to": "COMMIT", "after": insertion} if is_stored else {"to": insertion}
    pushed = wire.lose_the_answer(keeping(txn, jobs), **answer).result(60)
    assert kept() == sorted(pushed) and len(pushed) == jobs
    wire.does(txn.complete)
    assert outbox.deliver(txn.id) == (1 if jobs == 1 else 0)  # the curator's part
    assert ids() == sorted([*before, *pushed])
    assert Event.objects.filter(kind="push.held").count() == (jobs == 1)


def test_a_push_with_a_transaction_that_goes_on_after_the_cut_is_kept_once(wire, txn):
    with held(Row.objects.filter(pk=txn.id)):
        pushing = wire.cut_while_waiting(keeping(txn, 3))
    pushed = pushing.result(60)
    wire.settled()
    assert kept() == sorted(pushed)


def test_a_push_that_cannot_wait_for_its_transaction_is_never_kept(wire, txn, hurry):
    with held(Row.objects.filter(pk=txn.id)):
        hurry()
        told = wire.cut_while_waiting(keeping(txn, 3)).exception(60)
    wire.settled()
    assert isinstance(told, AtributoError) and not getattr(told, "in_doubt", False)
    assert kept() == []


def test_a_push_whose_transaction_ends_before_it_can_be_asked_about_is_in_doubt(
    wire, txn, monkeypatch
):
    before, first = ids(), []
    complete = lambda _: first or first.append(Transaction.attach(txn.id).complete())  # noqa: E731
    monkeypatch.setitem(retry_busy.__kwdefaults__, "sleep", complete)
    told = wire.lose_the_commit(keeping(txn), after="INSERT 0 1").exception(60)
    assert isinstance(told, ConnectionLost) and told.in_doubt
    assert outbox.deliver_or_drop() == 1
    assert len(ids()) == len(before) + 1


@pytest.mark.parametrize("to", ["INSERT 0 1", "DELETE 3", "COMMIT"])
def test_a_completed_transaction_is_told_so_though_its_delivery_is_cut_off(wire, txn, to):
    before, pushed = ids(), wire.does(keeping(txn, 3))
    wire.lose_the_answer(txn.complete, to).result(60)
    wire.settled()
    assert Row.objects.get(pk=txn.id).status == Row.Status.COMPLETED
    outbox.deliver_or_drop()
    assert ids() == sorted([*before, *pushed])
    assert kept() == []


def played(pump):
    """One job is reserved and has succeeded; nothing of that is stored yet."""
    now = time.monotonic()
    playing = BatchProgress(reserve(pump.slot, 1), now)
    playing.receive({"t": "done", "ok": True, "result": 7, "begun": now, "seconds": 0.001})
    return playing


@pytest.fixture
def pump(wire, push):
    """A worker without a child, which has stored the outcome of a job already."""

    def begin():
        queues.get("work").push(ACT, {}, success=ACT)
        slot = acquire("work", 0, "hands")
        pump = SlotRunner(slot, None, "hands", lambda: None, lambda: False)
        pump._store(played(pump))
        return pump

    return wire.does(begin)


def assert_told_once(jobs):
    assert Run.objects.filter(outcome="complete").count() == jobs
    assert QueuedJob.objects.filter(status="complete").count() == jobs
    assert QueuedJob.objects.filter(parent__isnull=False).count() == jobs - 1
    assert not FenceCount.objects.filter(refused__gt=0).exists()


def test_an_outcome_whose_answer_is_lost_is_stored_once_and_refused_to_nobody(wire, pump):
    playing = wire.does(lambda: played(pump))
    wire.lose_the_commit(lambda: pump._store(playing)).result(60)
    assert_told_once(jobs=2)


def test_an_outcome_that_goes_on_after_the_cut_is_stored_once(wire, pump):
    playing = wire.does(lambda: played(pump))
    with held(QueuedJob.objects.filter(pk=playing.batch.jobs[0].id)):
        storing = wire.cut_while_waiting(lambda: pump._store(playing))
    storing.result(60)
    wire.settled()
    assert_told_once(jobs=2)


@pytest.mark.parametrize("lose", ["lose_the_answer", "lose_the_question"])
def test_the_last_outcome_of_a_slot_whose_answer_is_lost_is_stored_once(wire, push, lose):
    """The slot may have been left with it already."""

    def begin():
        pump = SlotRunner(acquire("work", 0, "hands"), None, "hands", lambda: None, lambda: False)
        return pump, played(pump)

    pump, playing = wire.does(begin)
    what = {"to": "SELECT 1"} if lose == "lose_the_answer" else {"of": "queues_minutecount"}
    getattr(wire, lose)(lambda: pump._store(playing, leave=True), **what).result(60)
    assert_told_once(jobs=1)
    assert wire.does(pump.slot.leave) == []
    assert not Slot.objects.exclude(holder="").exists()
