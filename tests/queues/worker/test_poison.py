"""A job that ends its worker ends failed, with its reason, and every execution is recorded."""

import pytest

from queues.models import Run, RunLog
from queues.runs import outcomes
from queues.runs.reservation import reserve
from queues.runs.slots import acquire
from queues.sandbox import ancestors


@pytest.fixture
def failed(queue, sweep, wait_until):
    """Wait for the end of a job while the curator sweeps."""

    def wait(job):
        wait_until(lambda: [sweep(), job.status == "failed"][1])

    return wait


def test_a_script_cannot_kill_its_worker(
    queue, act, worker, failed, tmp_path, executions, wait_until
):
    process = worker()
    order = {"file": str(tmp_path / "ran"), "kill": "family"}
    job = queue.get(queue.push(act, order, max_failures=1, back_off=0))
    failed(job)
    assert executions() == 2
    assert job.failures == ["PermissionError: [Errno 1] Operation not permitted"] * 2
    assert process.is_running()
    assert list(Run.objects.values_list("outcome", flat=True)) == ["failed", "failed"]
    other = queue.get(queue.push(act))
    wait_until(lambda: other.status == "complete")


def test_nor_can_a_process_that_it_starts(queue, act, worker, wait_until):
    process = worker()
    job = queue.get(queue.push(act, {"kill": "by shell"}))
    wait_until(lambda: job.status == "complete")
    assert process.is_running()
    said = list(RunLog.objects.values_list("text", flat=True))
    refused = [text for text in said if text]
    assert [text[-13:] for text in refused] == ["not permitted"] * 2, said


def test_a_script_may_ask_whether_they_live_and_signal_its_own(run):
    (done,) = run(signals_its_own)
    assert (done["ok"], done["result"]) == (True, -9)


def signals_its_own(file):
    import os
    import subprocess

    os.kill(os.getppid(), 0)
    process = subprocess.Popen(["sleep", "600"])
    process.kill()
    return process.wait()


@pytest.mark.parametrize("machine", ancestors.CALLS)
def test_a_filter_jumps_to_its_own_steps(machine):
    steps = ancestors.steps(machine, [7, 8, -8, -1])
    for place, (code, skipped, other, _) in enumerate(steps):
        if code == ancestors.IS_EQUAL:
            assert place + 1 + max(skipped, other) < len(steps)
    assert [step[3] for step in steps[-2:]] == [ancestors.ALLOW, ancestors.REFUSE]


def test_lost_three_times_is_a_failure_with_its_reason(queue, act, sweep, expire_leases):
    job = queue.get(queue.push(act))
    for _ in range(3):
        assert job.failures == []
        slot = acquire("work", 0, "one that dies")
        batch = reserve(slot, 1)
        assert outcomes.record_start(slot, batch.jobs[0], "one that dies", 0.0)
        expire_leases()
        sweep()
    assert (job.status, job.run_failures) == ("failed", 1)
    assert job.failures == [
        "the worker died, 3 times in a row: this job may be what ends it",
    ]
    assert list(Run.objects.values_list("outcome", flat=True)) == ["lost", "lost", "failed"]
