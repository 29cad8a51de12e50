"""Abort, reset, run now, delete; and what a dead worker leaves."""

import pytest

import queues
from atributo_site.core.errors import LeaseLost
from atributo_site.core.models import Event
from queues.errors import JobIsRunning, JobNotFound
from queues.jobs import actions, bulk
from queues.logic.lifecycle import Outcome
from queues.maintenance.invariants import repeated_too_often
from queues.models import QueuedJob, Run, Slot
from queues.queries.presenters import run_of_runs
from queues.runs.outcome_rows import AttemptResult
from queues.runs.outcomes import record, record_start
from queues.runs.reservation import reserve
from queues.runs.slots import acquire


def started(queue):
    """Acquire the slot and start the queue's first job, as a worker would."""
    slot = acquire(queue.name, 0, "dead")
    batch = reserve(slot, 1)
    record_start(slot, batch.jobs[0], "dead", 0.0)
    return slot, batch


def ended(batch, outcome=Outcome.COMPLETE):
    return [AttemptResult(job, outcome, batch.now, batch.now, result="late") for job in batch.jobs]


def test_an_aborted_pending_job_never_runs(queue, act, hands, tmp_path, executions):
    job = queue.get(queue.push(act, {"file": str(tmp_path / "ran")}))
    job.abort()
    hands.drain()
    assert (job.status, job.failures, executions()) == ("failed", ["Job aborted."], 0)
    assert not QueuedJob.objects.exclude(parent=None).exists()


def test_a_complete_job_stays_complete(queue, act, hands):
    job = queue.get(queue.push(act))
    hands.drain()
    job.abort()
    assert job.status == "complete"


def test_an_unknown_job_cannot_be_aborted(queue):
    with pytest.raises(JobNotFound):
        queue.get("1").abort()


def test_a_late_result_of_an_aborted_job_is_ignored(queue, act):
    job = queue.get(queue.push(act))
    slot, batch = started(queue)
    assert job.status == "progress"
    job.abort()
    assert record(slot, ended(batch), "dead") == set()
    assert (job.status, job.result) == ("failed", None)
    assert Run.objects.get().outcome == "aborted"


def test_a_deleted_running_job_leaves_no_trace(queue, act):
    job_id = queue.push(act)
    slot, batch = started(queue)
    assert queue.delete(job_id)
    assert record(slot, ended(batch), "dead") == set()
    assert not Run.objects.exists()


def test_a_reset_job_runs_again(queue, act, hands, tmp_path, executions):
    job = queue.get(queue.push(act, {"file": str(tmp_path / "ran"), "fail_first": 1}))
    hands.drain()
    assert job.status == "failed"
    job.reset()
    hands.drain()
    assert (job.status, executions(), job.runs) == ("complete", 2, 2)


RESET = {"one": actions.reset, "many": lambda job_id: bulk.do("retry", [job_id])}


@pytest.mark.parametrize("ways", RESET)
def test_a_job_that_was_reset_did_not_run_too_often(ways, queue, act, hands):
    job_id = int(queue.push(act))
    for _ in range(2):
        hands.drain()
        RESET[ways](job_id)
    hands.drain()
    assert QueuedJob.objects.get(pk=job_id).runs == 3
    assert repeated_too_often(QueuedJob.objects.all()) == []
    assert run_of_runs(QueuedJob.objects.get(pk=job_id)) == "3 of 3"


def test_a_running_job_is_not_reset(queue, act):
    job = queue.get(queue.push(act))
    started(queue)
    with pytest.raises(JobIsRunning):
        job.reset()


def test_run_now_makes_a_delayed_job_due(queue, act, hands):
    job = queue.get(queue.push(act, delay=3_600_000))
    assert actions.run_now(int(job.id))
    hands.drain()
    assert job.status == "complete"


def test_reserving_changes_neither_status_nor_attempt(queue, act):
    job = queue.get(queue.push(act))
    batch = reserve(acquire("work", 0, "a"), 5)
    row = QueuedJob.objects.get()
    assert (job.status, row.attempt, row.slot_id is None) == ("pending", 0, False)
    assert [held.id for held in batch.jobs] == [row.id]


def test_a_full_queue_does_not_hold_up_another(queue, act, hands):
    queue.push_many(act, [None] * 2)
    started(queue)
    other = queues.create("other")
    job = other.get(other.push(act))
    hands.drain()
    assert (job.status, len(queue.progress()), len(queue.pending())) == ("complete", 1, 1)


def test_a_slot_has_one_holder(queue, act):
    assert acquire("work", 0, "a") is not None
    assert acquire("work", 0, "b") is None
    assert acquire("work", 1, "b") is None
    assert acquire("nowhere", 0, "b") is None


def test_no_slot_is_taken_while_those_above_a_lowered_limit_run(probe):
    queues.create("q", 3)
    above = acquire("q", 2, "a")
    queues.create("q", 1)
    assert acquire("q", 0, "b") is None
    above.renew()
    above.release()
    assert acquire("q", 0, "b") is not None


def test_a_slot_above_the_limit_takes_no_further_job(probe, act):
    queue = queues.create("q", 2)
    queue.push(act)
    slot = acquire("q", 1, "a")
    queues.create("q", 1)
    assert reserve(slot, 1) is None


def test_a_lost_run_waits_again_and_is_no_failure(queue, act, expire_leases, sweep):
    job = queue.get(queue.push(act))
    started(queue)
    expire_leases()
    assert sweep()["dead workers"] == 1
    assert (job.status, job.run_failures, job.failures) == ("pending", 0, [])
    assert Run.objects.get().outcome == "lost"
    assert Slot.objects.get(queue__name="work").holder == ""


def test_three_lost_runs_in_a_row_end_the_run(
    queue, probe, act, expire_leases, sweep, hands, tmp_path
):
    data = {"calls": str(tmp_path / "calls")}
    job = queue.get(queue.push(act, data, failure={"mount": probe, "name": "called"}))
    for _ in range(3):
        started(queue)
        expire_leases()
        sweep()
    assert (job.status, job.runs) == ("failed", 1)
    hands.drain()
    assert len((tmp_path / "calls").read_text().splitlines()) == 1


def test_what_was_only_reserved_goes_back_uncounted(queue, act, expire_leases, sweep, hands):
    ids = queue.push_many(act, [None] * 3)
    reserve(acquire("work", 0, "dead"), 3)
    expire_leases()
    sweep()
    assert queue.pending() == ids
    assert not Run.objects.exists()
    hands.drain()
    assert sorted(queue.complete()) == ids


def test_a_zombie_is_refused(queue, act, expire_leases, sweep, hands):
    job = queue.get(queue.push(act, {"result": "good"}))
    slot, batch = started(queue)
    expire_leases()
    sweep()
    hands.drain()
    with pytest.raises(LeaseLost):
        record(slot, ended(batch), "dead")
    assert (job.status, job.result) == ("complete", "good")
    assert [run.outcome for run in Run.objects.all()] == ["lost", "complete"]


def test_a_zombie_is_refused_before_anybody_has_noticed(queue, act, expire_leases):
    queue.push(act)
    slot, batch = started(queue)
    expire_leases()
    with pytest.raises(LeaseLost):
        record(slot, ended(batch), "dead")
    assert Run.objects.get().outcome == "running"


def test_a_released_run_is_given_back(queue, act, hands):
    job = queue.get(queue.push(act))
    slot, batch = started(queue)
    record(slot, ended(batch, Outcome.RELEASED), "dead")
    slot.release()
    assert (job.status, job.failures, job.runs) == ("pending", [], 0)
    hands.drain()
    assert [run.outcome for run in Run.objects.all()] == ["released", "complete"]


def test_changes_by_people_are_events(queue, act):
    queue.get(queue.push(act)).abort()
    queues.pause("work")
    kinds = set(Event.objects.values_list("kind", flat=True))
    assert {"queue.created", "job.aborted", "queue.paused"} <= kinds


@pytest.fixture
def begun_callback(queue, probe, act, tmp_path):
    """The slot and the batch of a worker that has just begun a callback."""
    data = {"calls": str(tmp_path / "calls")}
    queue.push(act, data, success={"mount": probe, "name": "called"})
    slot, batch = started(queue)
    record(slot, ended(batch), "dead")
    slot.release()
    return started(queue)


def test_a_callback_whose_worker_dies_is_not_called_again(
    begun_callback, hands, expire_leases, sweep, executions
):
    expire_leases()
    sweep()
    hands.drain()
    assert executions("calls") == 0
    assert QueuedJob.objects.exclude(parent=None).get().status == "failed"


def test_a_callback_whose_worker_stops_is_not_called_again(begun_callback, hands, executions):
    slot, batch = begun_callback
    record(slot, ended(batch, Outcome.RELEASED), "dead")
    slot.release()
    hands.drain()
    assert executions("calls") == 0
    assert QueuedJob.objects.exclude(parent=None).get().status == "failed"
