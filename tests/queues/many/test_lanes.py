"""Many jobs at once in one worker: each in a child of its own, followed by one parent."""

import signal

import psutil
import pytest
from django.db import connection

import queues
from queues.models import QueuedJob, Run, Slot
from tests.queues.many.gates import Gates, kill_with_scripts
from tests.servers.process import has_ended


@pytest.fixture
def wide(probe):
    return queues.create("wide", max_workers=8)


@pytest.fixture
def gates(probe, tmp_path, wait_until):
    return Gates(tmp_path, wait_until)


def children_of(process):
    """The processes in which scripts run: the children of the keepers."""
    keepers = psutil.Process(process.pid).children()
    return [child for keeper in keepers for child in keeper.children()]


def test_jobs_run_at_the_same_time(wide, worker, gates, wait_until):
    worker("a", "--concurrency", "3")
    jobs = gates.push(wide, "a", "b", "c")
    gates.begun("a", "b", "c")
    gates.open("a", "b", "c")
    wait_until(lambda: {job.status for job in jobs} == {"complete"})


def test_no_more_than_the_queue_allows(probe, worker, gates, wait_until):
    narrow = queues.create("narrow", max_workers=2)
    worker("a", "--concurrency", "4")
    jobs = gates.push(narrow, "a", "b", "c")
    gates.begun("a", "b")
    wait_until(lambda: QueuedJob.objects.filter(status="progress").count() == 2)
    assert Slot.objects.exclude(holder="").count() == 2
    gates.open("a", "b", "c")
    wait_until(lambda: {job.status for job in jobs} == {"complete"})


def test_a_child_that_dies_takes_only_its_own_job_along(wide, act, worker, gates, wait_until):
    worker("a", "--concurrency", "2")
    [calm] = gates.push(wide, "calm")
    gates.begun("calm")
    dying = wide.get(wide.push(act, {"die": True}, max_failures=0))
    wait_until(lambda: dying.status == "failed")
    assert calm.status == "progress"
    gates.open("calm")
    wait_until(lambda: calm.status == "complete")
    assert dying.failures == ["the process was killed (signal 9, SIGKILL)"]


def test_an_abort_and_a_time_out_leave_the_others_alone(wide, worker, gates, wait_until):
    process = worker("a", "--concurrency", "3")
    calm, aborted = gates.push(wide, "calm", "aborted")
    gates.begun("calm", "aborted")
    script = {"mount": "/probe", "name": "act"}
    slow = wide.get(wide.push(script, {"sleep": 600}, timeout=300, max_failures=0))
    wait_until(lambda: slow.status == "failed")
    pids = {child.pid for child in children_of(process)}
    aborted.abort()
    wait_until(lambda: any(has_ended(pid) for pid in pids))
    assert calm.status == "progress"
    assert "timed out after 300ms" in slow.failures[0]
    gates.open("calm")
    wait_until(lambda: calm.status == "complete")


def test_a_stopping_worker_ends_every_lane(wide, worker, gates, wait_until, monkeypatch):
    process = worker("a", "--concurrency", "2")
    jobs = gates.push(wide, "a", "b")
    gates.begun("a", "b")
    process.send_signal(signal.SIGTERM)
    gates.open("a", "b")
    assert process.wait(timeout=60) == 0
    assert {job.status for job in jobs} == {"complete"}
    assert not Slot.objects.exclude(holder="").exists()


def test_the_jobs_of_a_killed_worker_are_lost_and_run_again(
    wide, worker, gates, wait_until, expire_leases, sweep
):
    first = worker("first", "--concurrency", "2")
    jobs = gates.push(wide, "a", "b")
    gates.begun("a", "b")
    wait_until(lambda: QueuedJob.objects.filter(status="progress").count() == 2)
    kill_with_scripts(first, wait_until)
    assert expire_leases(first) == 2
    gates.open("a", "b")
    worker("second", "--concurrency", "2")
    wait_until(lambda: [sweep(), {job.status for job in jobs} == {"complete"}][1])
    assert sorted(Run.objects.values_list("outcome", flat=True)) == ["complete"] * 2 + ["lost"] * 2


@pytest.mark.only_on("postgresql")
def test_the_lanes_share_one_database_connection(wide, worker, gates, wait_until):
    process = worker("a", "--concurrency", "3")
    gates.push(wide, "a", "b", "c")
    gates.begun("a", "b", "c")
    wait_until(lambda: QueuedJob.objects.filter(status="progress").count() == 3)
    port = int(connection.settings_dict["PORT"] or 5432)
    parent = psutil.Process(process.pid)
    sockets = [each for each in parent.net_connections() if each.raddr and each.raddr.port == port]
    assert len(sockets) <= 1
    gates.open("a", "b", "c")


def test_short_jobs_of_many_queues_all_run(probe, act, worker, wait_until):
    handles = [queues.create(f"q{number}", max_workers=2) for number in range(5)]
    worker("a", "--concurrency", "3")
    for handle in handles:
        handle.push_many(act, [None] * 40)
    done = QueuedJob.objects.filter(status="complete")
    wait_until(lambda: done.count() == 200)
    assert Run.objects.count() == 200


def test_a_script_that_somebody_waits_for_runs_beside_jobs(wide, worker, gates, operator_runs):
    worker("a", "--concurrency", "2")
    gates.push(wide, "long")
    gates.begun("long")
    assert operator_runs("/probe", "act", {"result": 5}) == 5
    gates.open("long")


@pytest.fixture
def operator_runs():
    from queues.worker.run_now import run_script

    return lambda mount, name, data: run_script(mount, name, data).result
