"""Limits hold sticky jobs back, too; they keep their instance and the order of their key."""

import pytest

import queues
from allocation.models import Allocation
from atributo_site.core.models.clock import database_now
from queues.jobs import actions
from queues.maintenance.invariants import over_a_limit
from queues.models import Flow, QueuedJob
from queues.queries.presenters import wait_reason
from queues.runs.slots import acquire
from queues.runs.stations import reserve_at


@pytest.fixture
def wide(probe):
    return queues.create("wide", max_workers=20)


@pytest.fixture
def reserve(probe):
    """reserve("a", n) → the ids that a further slot gets at a station, of at most n jobs."""
    numbers = iter(range(20))

    def further(station, count=10, shared=True):
        slot = acquire("wide", next(numbers), station)
        batch = reserve_at(station, slot, count, shared=shared)
        return [str(job.id) for job in batch.jobs] if batch else []

    return further


def at(instance_id, *keys):
    """Allocate keys to an instance."""
    for key in keys:
        Allocation.objects.create(job_id=key, instance_id=instance_id, epoch=1, candidates=1)


def at_once(per, number):
    return [{"per": per, "at_once": number}]


def test_a_limit_of_the_queue_holds_sticky_jobs_back(wide, act, reserve, serve):
    serve("a")
    queues.set_limits("wide", at_once("queue", 2))
    ids = [wide.push(act, sticky_key=f"k{number}") for number in range(4)]
    assert reserve("a") == ids[:2]
    assert reserve("a") == []
    queues.set_limits("wide", at_once("queue", 3))
    assert reserve("a") == ids[2:3]


def test_a_slot_from_before_the_limit_starts_no_sticky_job(wide, act, serve):
    serve("a")
    slot = acquire("wide", 0, "a")
    wide.push(act, sticky_key="k")
    queues.set_limits("wide", at_once("queue", 1))
    assert reserve_at("a", slot, 10, shared=True) is None


def test_a_limit_of_a_push_holds_a_sticky_job_back(wide, act, reserve, serve):
    serve("a")
    early = acquire("wide", 19, "a")  # from before flow control decides about the queue
    limited = {"flow_key": "tenant", "limits": at_once("key", 1)}
    ids = [wide.push(act, sticky_key=f"k{number}", **limited) for number in range(2)]
    batch = reserve_at("a", early, 10, shared=True)
    assert [str(job.id) for job in batch.jobs] == ids[:1]
    assert reserve("a") == []
    waiting = QueuedJob.objects.select_related("queue").get(pk=ids[1])
    assert wait_reason(waiting, database_now()) == "The limit is reached: 1 at once per key."


def test_sticky_and_other_jobs_count_together(wide, act, reserve, serve):
    serve("a")
    queues.set_limits("wide", at_once("key", 1))
    shared = wide.push(act, flow_key="tenant")
    sticky = wide.push(act, sticky_key="k", flow_key="tenant")
    taken = reserve("a")
    assert len(taken) == 1 and set(taken) <= {shared, sticky}
    assert reserve("a") == []


def test_jobs_of_another_instance_do_not_hold_this_one_up(wide, act, reserve, serve):
    serve("a"), serve("b")
    at("a", "x", "y")
    at("b", "z")
    queues.set_limits("wide", at_once("instance", 1))
    ids = {key: wide.push(act, sticky_key=key) for key in "xyz"}
    assert reserve("a") == [ids["x"]]
    assert reserve("b") == [ids["z"]]
    assert reserve("a") == reserve("b") == []


def test_a_key_keeps_its_order_within_limits(wide, act, serve, tmp_path):
    a = serve("a")
    queues.set_limits("wide", at_once("queue", 1))
    order = {"file": str(tmp_path / "ran")}
    ids = [wide.push(act, order, sticky_key="k", flow_key=f"t{n % 2}") for n in range(5)]
    a.work()
    ran = [line.split()[0] for line in (tmp_path / "ran").read_text().splitlines()]
    assert ran == ids
    assert over_a_limit() == []


def test_a_job_that_waits_for_a_limit_goes_with_its_key(wide, act, reserve, serve, run_repairs):
    serve("a")
    queues.set_limits("wide", at_once("queue", 1))
    first, second = (wide.push(act, sticky_key=key) for key in "xy")
    assert reserve("a") == [first]
    assert QueuedJob.objects.get(pk=second).flow_id is not None
    serve("b")
    moved = Allocation.objects.filter(job_id="y")
    moved.update(instance_id="b", epoch=moved.get().epoch + 1)
    run_repairs()
    assert QueuedJob.objects.get(pk=second).routed_to == "b"
    queues.set_limits("wide", None)
    assert reserve("a") == []
    assert reserve("b") == [second]


def test_a_higher_priority_of_the_same_key_takes_the_turn(wide, act, reserve, serve):
    serve("a")
    queues.set_limits("wide", at_once("queue", 1))
    running, waiting = wide.push(act, sticky_key="x"), wide.push(act, sticky_key="y")
    assert reserve("a") == [running]
    urgent = wide.push(act, sticky_key="y", priority=2)
    queues.set_limits("wide", at_once("queue", 2))
    assert reserve("a") == [urgent]
    queues.set_limits("wide", None)
    assert waiting not in reserve("a")  # the one before it holds the key


def test_a_reset_job_gets_in_line_again(wide, act, serve, reserve):
    a = serve("a")
    queues.set_limits("wide", at_once("queue", 1))
    job = wide.push(act, sticky_key="k")
    a.work()
    actions.reset(int(job))
    a.work()
    assert QueuedJob.objects.get(pk=job).runs == 2


def test_a_push_that_both_is_sticky_and_counts_waits_in_the_flow_of_its_instance(
    wide, act, serve, reserve
):
    serve("a")
    wide.push(act, sticky_key="k", flow_key="tenant")
    assert len(reserve("a")) == 1
    assert Flow.objects.get(station="a").key == "tenant"


def test_jobs_in_flows_are_listed(wide, act):
    job = wide.push(act, flow_key="tenant")
    assert wide.pending(limit=10) == [job]
