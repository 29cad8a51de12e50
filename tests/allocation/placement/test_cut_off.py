"""The connection is cut while PostgreSQL places jobs or changes instances."""

import pytest

from allocation.atributo import Atributo
from allocation.job_ids import ids
from allocation.models import Allocation, IdNumber, Rebalance
from allocation.placement import drains, operations, rebalance
from allocation.storage.locks import roster_lock
from atributo_site.core.errors import ConnectionLost
from atributo_site.core.events import Event
from atributo_site.core.leases import HeldLease
from atributo_site.core.models import Lease
from atributo_site.core.retry import retry_busy
from tests.fixtures.wire import held, what_is_said

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.only_on("postgresql")]


@pytest.fixture
def ao(wire):
    """The program has placed a job: its statements are prepared."""
    ao = Atributo()
    wire.does(lambda: (ao.available("a"), ao.allocate("first"), ao.deallocate("first")))
    return ao


def placed():
    return dict(Allocation.objects.values_list("job_id", "instance_id"))


@pytest.mark.parametrize("lose", ["lose_the_answer", "lose_the_question"])
def test_an_allocation_whose_answer_is_lost_is_asked_for_again(wire, ao, lose):
    job = f"asked about first: {lose}"  # a job that the process knows is looked up before
    answer = getattr(wire, lose)(lambda: ao.allocate(job)).result(60)
    assert answer.instance_id == "a"
    assert answer.persisted == (lose == "lose_the_question")
    assert placed() == {job: "a"}


def test_an_allocation_that_goes_on_after_the_cut_is_one_placement(wire, ao):
    with roster_lock():
        placing = wire.cut_while_waiting(lambda: ao.allocate("job"))
    assert placing.result(60).instance_id == "a"
    wire.settled()
    assert placed() == {"job": "a"}


@pytest.mark.parametrize("lose", ["lose_the_answer", "lose_the_question"])
def test_many_allocations_are_asked_for_again(wire, ao, lose):
    answers = getattr(wire, lose)(lambda: ao.allocate_many(["x", "y"])).result(60)
    assert {job: answer.instance_id for job, answer in answers.items()} == placed()


@pytest.mark.parametrize("lose", ["lose_the_answer", "lose_the_question"])
@pytest.mark.parametrize("end", [lambda ao: ao.deallocate("job"), lambda ao: ao.end_many(["job"])])
def test_the_end_of_an_allocation_is_in_doubt(wire, ao, end, lose):
    wire.does(lambda: ao.allocate("job"))
    assert what_is_said(getattr(wire, lose)(lambda: end(ao))) == "in doubt"
    wire.settled()
    assert placed() == ({} if lose == "lose_the_answer" else {"job": "a"})
    assert bool(wire.does(lambda: end(ao))) is (lose == "lose_the_question")


def test_a_switch_of_an_instance_is_asked_for_again(wire, ao):
    assert wire.lose_the_commit(lambda: ao.unavailable("a")).result(60) is True
    assert wire.lose_the_commit(lambda: ao.available("a")).result(60) is True
    assert Event.objects.filter(kind__startswith="instance.").count() == 3


def begin_drain():
    drains.drain("a", moves_per_minute=1)


def begin_rebalance():
    rebalance.start(moves_per_minute=1)


def end_rebalance():
    begin_rebalance()
    rebalance.stop()


DEEDS = {  # what is there before, what is done, the event of it
    "drain": (None, lambda: drains.drain("a"), "instance.draining"),
    "stop": (begin_drain, lambda: drains.stop("a"), "instance.drain_stopped"),
    "adjust": (
        begin_drain,
        lambda: drains.adjust("a", moves_per_minute=7),
        "instance.drain_adjusted",
    ),
    "force": (begin_drain, lambda: drains.force("a"), "instance.drain_forced"),
    "rebalance": (end_rebalance, begin_rebalance, "allocations.rebalance_started"),
    "stop a rebalance": (begin_rebalance, rebalance.stop, "allocations.rebalance_stopped"),
    "removal": (None, lambda: operations.remove_instance("a"), "instance.removed"),
}


@pytest.fixture(params=DEEDS)
def deed(request, wire, ao):
    """deed(): do it, as the doors do; deed.count(): how often it is done.

    An event is in the transaction of its change: they are done equally often.
    """
    before, act, kind = DEEDS[request.param]
    if before is not None:
        wire.does(before)
    earlier = Event.objects.filter(kind=kind).count()
    call = lambda: retry_busy(act)  # noqa: E731
    call.count = lambda: Event.objects.filter(kind=kind).count() - earlier
    return call


@pytest.mark.parametrize("lose", ["lose_the_question", "lose_the_answer"])
def test_a_deed_whose_commit_is_cut_off_is_in_doubt(wire, deed, lose):
    """Asked again, it could be told that one runs already, which is its own."""
    assert what_is_said(getattr(wire, lose)(deed, "COMMIT")) == "in doubt"
    wire.settled()
    assert deed.count() == (lose == "lose_the_answer")


@pytest.mark.parametrize("lose", ["lose_the_question", "lose_the_answer"])
def test_a_deed_that_is_cut_off_before_its_commit_is_done_again(wire, deed, lose):
    assert what_is_said(getattr(wire, lose)(deed, "UPDATE")) == "done"
    wire.settled()
    assert deed.count() == 1


def test_a_deed_that_waits_when_it_is_cut_off_is_done_once(wire, deed):
    with roster_lock(), held(Rebalance.objects.all()):
        waits = wire.cut_while_waiting(deed)
    assert what_is_said(waits) == "done"
    wire.settled()
    assert deed.count() == 1


def test_a_deed_that_cannot_wait_is_never_done(wire, deed, hurry):
    with roster_lock(), held(Rebalance.objects.all()):
        hurry()
        assert what_is_said(wire.cut_while_waiting(deed)) == "not done"
    wire.settled()
    assert deed.count() == 0


def test_a_rebalance_that_runs_is_not_refused_to_whoever_has_just_started_it(wire, ao, monkeypatch):
    """The database is away for a moment when the program reads what it has started."""
    comes_back = lambda _: setattr(wire.proxy, "mode", "pass")  # noqa: E731
    monkeypatch.setitem(retry_busy.__kwdefaults__, "sleep", comes_back)
    read = 'SELECT "allocation_rebalance"'
    begun = wire.lose_the_question(lambda: retry_busy(begin_rebalance), read, then="refuse")
    assert what_is_said(begun) == "done"
    assert Rebalance.objects.get().done_at is None


def test_a_worker_number_whose_answer_is_lost_is_our_own(wire, ao):
    generator = ids.Generator("7", 10, 500)
    wire.does(lambda: ids.Generator("3", 10, 500).get_job_id())
    made = wire.lose_the_answer(generator.get_job_id, "COMMIT").result(60)
    assert ids.parse(made).worker_id == 7
    assert IdNumber.objects.get(pk=7).token == 1  # taken once


def test_a_block_of_ids_whose_answer_is_lost_is_left_out(wire, ao):
    generator = ids.Generator("auto", 10, 500)
    first = wire.does(lambda: generator.get_job_ids(3))
    second = wire.lose_the_commit(lambda: generator.get_job_ids(3)).result(60)
    assert sorted({*first, *second}) == [*first, *second]


def test_a_lease_whose_answer_is_lost_is_in_doubt_when_taken_and_kept_when_renewed(wire, ao):
    lease = wire.does(lambda: HeldLease.take("role", "ours", 60))
    wire.lose_the_answer(lease.renew).result(60)
    wire.lose_the_answer(lease.release).result(60)
    told = wire.lose_the_answer(lambda: HeldLease.take("role", "ours", 60), "UPDATE").exception(60)
    assert isinstance(told, ConnectionLost) and told.in_doubt
    assert Lease.objects.get(role="role").holder == "ours"
