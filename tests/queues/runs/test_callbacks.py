"""A callback runs next, whatever its queue has waiting and whatever state the queue is in."""

import json

import pytest

import queues
from queues.models import QueuedJob
from queues.runs.slots import acquire
from queues.worker.slot_runner import SlotRunner


@pytest.fixture
def called(probe, tmp_path):
    """Options and data of a job with a callback that notes that it was called."""
    return {"success": {"mount": probe, "name": "called"}}, {"calls": str(tmp_path / "calls")}


@pytest.fixture
def run_one(hands):
    """run_one("work") runs the next job, then does `meanwhile` and leaves the slot."""

    def run(name, meanwhile=lambda: None):
        slot, ended = acquire(name, 0, "hands"), []
        after = lambda: (ended.append(1), meanwhile())  # noqa: E731
        SlotRunner(slot, hands.workhorse, "hands", after, lambda: bool(ended)).run()
        slot.release()

    return run


def order_of_starting():
    jobs = QueuedJob.objects.exclude(started_at=None).order_by("started_at")
    return [str(job.parent or job.pk) for job in jobs]


def test_a_callback_runs_before_the_backlog(queue, act, called, hands):
    options, data = called
    job = queue.push(act, data, **options)
    others = queue.push_many(act, [{}] * 5)
    hands.drain()
    assert order_of_starting() == [job, job, *others]


def test_a_callback_of_a_paused_queue_is_called(queue, act, called, hands, run_one):
    options, data = called
    job = queue.push(act, data, **options)
    other = queue.push(act)
    run_one("work", lambda: queues.pause("work"))
    hands.drain()
    assert order_of_starting() == [job, job]
    assert queue.pending() == [other]


def test_a_callback_of_a_deleted_queue_is_called(queue, act, called, hands, run_one):
    options, data = called
    job = queue.push(act, data, **options)
    queue.push(act)
    run_one("work", lambda: queues.delete("work"))
    hands.drain()
    assert order_of_starting() == [job, job]
    assert QueuedJob.objects.visible().filter(status="pending").count() == 1


def test_a_pause_during_the_run_does_not_hold_the_callback(queue, act, called, hands):
    options, data = called
    job = queue.push(act, data, **options)
    slot = acquire("work", 0, "hands")
    pause = lambda: queues.pause("work")  # noqa: E731
    assert SlotRunner(slot, hands.workhorse, "hands", pause, lambda: False).run() is False
    assert order_of_starting() == [job, job]


def test_a_callback_runs_though_another_queue_must_not_wait(queue, act, called, hands):
    options, data = called
    job = queue.push(act, data, **options)
    other = queue.push(act)
    slot, ended = acquire("work", 0, "hands"), []
    ways = {"is_wanted": lambda: bool(ended)}
    pump = SlotRunner(
        slot, hands.workhorse, "hands", lambda: ended.append(1), lambda: False, **ways
    )
    assert pump.run() is True
    assert order_of_starting() == [job, job]
    assert queue.pending() == [other]


@pytest.mark.parametrize("end", [queues.pause, queues.delete])
def test_the_sweep_rings_for_callbacks_of_any_queue(
    queue, act, called, run_one, sweep, redis_connection, end
):
    options, data = called
    queue.push(act, data, **options)
    run_one("work", lambda: end("work"))
    redis_connection.flushall()
    sweep()
    assert redis_connection.llen("rq:queue:atributo-bells-first") == 1


def test_nothing_but_a_callback_opens_a_paused_queue(queue, act):
    queue.push(act)
    queues.pause("work")
    assert acquire("work", 0, "hands") is None


def test_a_callback_gets_the_whole_job(queue, probe, act, called, hands, tmp_path):
    options, data = called
    data |= {"document": str(tmp_path / "document"), "result": 42}
    job_id = queue.push(act, data, **options, max_failures=3, timeout=9000, unique_key="k")
    hands.drain()
    job = json.loads((tmp_path / "document").read_text())
    assert (job["id"], job["queue"], job["mount"], job["name"]) == (job_id, "work", probe, "act")
    assert (job["status"], job["data"], job["result"], job["runs"]) == ("complete", data, 42, 1)
    assert (job["max_failures"], job["timeout"], job["unique_key"]) == (3, 9000, "k")
    assert (job["success"], job["failure"]) == (options["success"], None)
    assert (job["repeat_times"], job["back_off"], job["priority"]) == (0, 1000, 0)
    assert job["created_at"] <= job["started_at"] <= job["ended_at"]


def test_data_and_result_of_a_job_are_stored_once_for_its_callback(queue, act, called, hands):
    options, data = called
    queue.push(act, {**data, "result": "much"}, **options)
    hands.drain()
    result, given, document = QueuedJob.objects.exclude(parent=None).get().data
    assert (result, given) == ("much", {**data, "result": "much"})
    assert not {"data", "result"} & set(document)
