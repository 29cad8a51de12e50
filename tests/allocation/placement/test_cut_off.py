"""The connection is cut while PostgreSQL places jobs or changes instances."""

import pytest

from allocation.atributo import Atributo
from allocation.job_ids import ids
from allocation.models import Allocation, Drain, IdNumber, Rebalance
from allocation.placement import drains, rebalance
from allocation.storage.locks import roster_lock
from atributo_site.core.errors import ConnectionLost
from atributo_site.core.events import Event
from atributo_site.core.leases import HeldLease
from atributo_site.core.models import Lease
from atributo_site.core.retry import retry_busy

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


def test_the_end_of_an_allocation_is_told_or_in_doubt(wire, ao):
    wire.does(lambda: ao.allocate("job"))
    told = wire.lose_the_answer(lambda: ao.deallocate("job")).exception(60)
    assert isinstance(told, ConnectionLost) and told.in_doubt
    assert placed() == {}
    assert wire.does(lambda: ao.deallocate("job")) is False


def test_a_switch_of_an_instance_is_asked_for_again(wire, ao):
    assert wire.lose_the_commit(lambda: ao.unavailable("a")).result(60) is True
    assert wire.lose_the_commit(lambda: ao.available("a")).result(60) is True
    assert Event.objects.filter(kind__startswith="instance.").count() == 3


@pytest.mark.parametrize(
    ("deed", "done"),
    [
        (lambda: drains.drain("a"), Drain.objects.exists),
        (lambda: rebalance.start(moves_per_minute=1), Rebalance.objects.exists),
    ],
    ids=["drain", "rebalance"],
)
def test_what_is_refused_the_second_time_is_in_doubt(wire, ao, deed, done):
    """Asked again, it would be told that one runs already, which is its own."""
    told = wire.lose_the_commit(lambda: retry_busy(deed)).exception(60)
    assert isinstance(told, ConnectionLost) and told.in_doubt
    assert done()


@pytest.mark.parametrize("lose", ["lose_the_answer", "lose_the_question"])
def test_a_deed_that_is_cut_off_before_its_commit_is_done_again(wire, ao, lose):
    getattr(wire, lose)(lambda: retry_busy(lambda: drains.drain("a"))).result(60)
    assert Drain.objects.count() == 1


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
