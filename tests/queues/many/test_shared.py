"""Many jobs in one process: `async def` scripts and threads, with the promises of one alone."""

import os

import psutil
import pytest

import queues
from queues.logic.manifest import read
from queues.models import QueuedJob, Run, RunLog, Script, Slot
from tests.queues.many.gates import Gates, kill_with_scripts

KINDS = ["many", "threaded"]


@pytest.fixture
def wide(probe):
    return queues.create("wide", max_workers=60)


@pytest.fixture
def gates(probe, tmp_path, wait_until):
    return lambda script: Gates(tmp_path, wait_until, script=script)


@pytest.fixture
def statuses():
    return lambda: list(QueuedJob.objects.order_by("id").values_list("status", flat=True))


def scripts_run_in(process):
    """The processes in which scripts run: the children of the keepers."""
    keepers = psutil.Process(process.pid).children()
    return [child for keeper in keepers for child in keeper.children()]


def names(count):
    return [f"job{number}" for number in range(count)]


def test_an_async_script_is_known_when_it_is_installed(probe):
    threads = dict(Script.objects.values_list("name", "threads"))
    assert (threads["many"], threads["threaded"], threads["act"]) == (100, 20, 1)


@pytest.mark.parametrize("script, count", [("many", 50), ("threaded", 20)])
def test_many_jobs_run_in_one_process(script, count, wide, worker, gates, wait_until, statuses):
    process = worker()
    gate = gates(script)
    gate.push(wide, *names(count))
    gate.begun(*names(count))
    wait_until(lambda: statuses() == ["progress"] * count)
    assert len(scripts_run_in(process)) <= 2
    assert Slot.objects.live().count() == count
    gate.open(*names(count))
    wait_until(lambda: statuses() == ["complete"] * count)
    assert Run.objects.filter(outcome="complete").count() == count


def test_no_more_than_the_queue_allows(probe, worker, gates, wait_until):
    narrow = queues.create("narrow", max_workers=3)
    worker()
    gate = gates("many")
    gate.push(narrow, *names(10))
    running = QueuedJob.objects.filter(status="progress")
    wait_until(lambda: running.count() == 3)
    assert Slot.objects.exclude(holder="").count() == 3
    gate.open(*names(10))
    wait_until(lambda: QueuedJob.objects.filter(status="complete").count() == 10)


@pytest.mark.parametrize("script", KINDS)
def test_an_abort_and_a_time_out_leave_the_others_alone(
    script, wide, worker, gates, wait_until, statuses
):
    worker()
    gate = gates(script)
    calm = gate.push(wide, *names(17))
    [aborted] = gate.push(wide, "aborted")
    [late] = gate.push(wide, "late", timeout=300, max_failures=0)
    gate.begun(*names(17), "aborted")
    wait_until(lambda: late.status == "failed")
    assert late.failures == ["TimedOut: timed out after 300ms"]
    aborted.abort()
    wait_until(lambda: Slot.objects.live().count() == 17)
    assert {job.status for job in calm} == {"progress"}
    gate.open(*names(17))
    wait_until(lambda: {job.status for job in calm} == {"complete"})
    assert Run.objects.filter(outcome="complete").count() == 17
    assert Run.objects.filter(outcome="released").count() == 0


@pytest.mark.parametrize("script", KINDS)
def test_each_job_has_its_own_log_and_result(script, wide, probe, worker, wait_until):
    worker()
    wanted = {"mount": probe, "name": script}
    orders = [{"say": f"I am {n}", "result": n, "sleep": 0.05} for n in range(15)]
    said = {wide.push(wanted, order): order["result"] for order in orders}
    wait_until(lambda: QueuedJob.objects.filter(status="complete").count() == 15)
    lines = {str(line.job_id): line.text for line in RunLog.objects.all()}
    assert lines == {job: f"I am {n}" for job, n in said.items()}
    results = dict(QueuedJob.objects.values_list("pk", "result"))
    assert {str(pk): result for pk, result in results.items()} == said


def test_a_failure_has_its_error_and_is_retried(wide, probe, worker, wait_until):
    worker()
    job = wide.get(
        wide.push({"mount": probe, "name": "many"}, {"fail": "no"}, max_failures=1, back_off=0)
    )
    wait_until(lambda: job.status == "failed")
    assert job.failures == ["ValueError: no", "ValueError: no"]
    assert "in run" in Run.objects.first().traceback


def test_a_job_that_does_not_let_itself_be_stopped_ends_its_process_and_the_others_run_again(
    wide, worker, gates, wait_until
):
    worker()
    gate = gates("many")
    calm = gate.push(wide, "calm")[0]
    stubborn = wide.get(
        wide.push(
            {"mount": "/probe", "name": "many"},
            {**gate.order("stubborn"), "stubborn": True},
            timeout=3000,
            max_failures=0,
        )
    )
    gate.begun("calm", "stubborn")
    wait_until(lambda: stubborn.status == "failed")
    gate.open("calm")
    wait_until(lambda: calm.status == "complete")
    outcomes = Run.objects.filter(job_id=calm.id).order_by("attempt")
    assert list(outcomes.values_list("outcome", flat=True)) == ["released", "complete"]


def test_a_job_that_ends_the_process_fails_alone(wide, probe, worker, wait_until):
    worker()
    script = {"mount": probe, "name": "many"}
    calm = [wide.get(wide.push(script, {"sleep": 0.2})) for _ in range(5)]
    dying = wide.get(wide.push(script, {"sleep": 0.1, "die": True}, max_failures=0))
    wait_until(lambda: dying.status == "failed")
    wait_until(lambda: {job.status for job in calm} == {"complete"})
    assert dying.failures == ["the process was exited with code 3"]


def test_the_jobs_of_a_killed_worker_are_lost_and_run_again(
    wide, worker, gates, wait_until, expire_leases, sweep, statuses
):
    first = worker("first")
    gate = gates("many")
    gate.push(wide, *names(8))
    gate.begun(*names(8))
    wait_until(lambda: statuses() == ["progress"] * 8)
    kill_with_scripts(first, wait_until)
    assert expire_leases(first) == 8
    gate.open(*names(8))
    worker("second")
    wait_until(lambda: [sweep(), statuses() == ["complete"] * 8][1])
    assert Run.objects.filter(outcome="lost").count() == 8


def test_what_a_late_worker_says_is_refused(wide, worker, gates, wait_until, sweep, statuses):
    """Its slots were taken over while its process ran on."""
    first = worker("first")
    gate = gates("many")
    gate.push(wide, *names(3))
    gate.begun(*names(3))
    wait_until(lambda: statuses() == ["progress"] * 3)
    os.kill(first.pid, 19)
    Slot.objects.exclude(holder="").update(leased_until="2020-01-01T00:00:00Z")
    sweep()
    gate.open(*names(3))
    os.kill(first.pid, 18)
    wait_until(lambda: [sweep(), statuses() == ["complete"] * 3][1])
    assert sorted(Run.objects.values_list("outcome", flat=True)) == ["complete"] * 3 + ["lost"] * 3


def test_plain_and_async_jobs_of_one_queue_all_run(wide, act, probe, worker, wait_until):
    worker()
    for number in range(10):
        wide.push(act if number % 2 else {"mount": probe, "name": "many"}, {"sleep": 0.01})
    wait_until(lambda: QueuedJob.objects.filter(status="complete").count() == 10)
    assert Run.objects.filter(outcome="complete").count() == 10


def test_an_async_job_may_push(wide, probe, worker, wait_until):
    worker()
    wide.push({"mount": probe, "name": "many"}, {"push": "wide"})
    wait_until(lambda: QueuedJob.objects.filter(status="complete").count() == 2)


def test_a_stopping_worker_lets_the_jobs_end(wide, worker, gates, wait_until, statuses):
    process = worker()
    gate = gates("many")
    gate.push(wide, *names(5))
    gate.begun(*names(5))
    process.send_signal(15)
    gate.open(*names(5))
    assert process.wait(timeout=60) == 0
    assert statuses() == ["complete"] * 5
    assert not Slot.objects.exclude(holder="").exists()


REFUSED = {
    "1 to 256": [{"threads": 0}, {"threads": True}, {"threads": 257}, {"threads": "2"}],
    "exclude each other": [{"threads": 2, "record_start": True}],
}


@pytest.mark.parametrize("said", REFUSED)
def test_what_a_manifest_must_not_say(said):
    for entry in REFUSED[said]:
        scripts = {"a": {"path": "a.py", **entry}}
        _, errors = read({"name": "x", "version": "1.0.0", "scripts": scripts})
        assert said in errors[0]
