"""What users of RQ see of our workers, and what RQ's own commands do to them."""

import os
import subprocess
import sys
from pathlib import Path

import django_rq.views
import pytest
from rq import Queue
from rq import Worker as RQWorker
from rq.command import send_shutdown_command
from rq.suspension import resume, suspend

import queues
from queues.models import QueuedJob
from queues.worker import slot_runner
from queues.worker.run_now import run_script
from tests.queues.many.gates import Gates


@pytest.fixture
def gates(probe, tmp_path, wait_until):
    return Gates(tmp_path, wait_until)


@pytest.fixture
def seen(redis_connection):
    """How RQ sees the worker named a."""
    return lambda: RQWorker.find_by_key("rq:worker:atributo-a", redis_connection)


@pytest.fixture
def rq(redis_connection):
    """Run RQ's own command; return what it prints."""
    path = redis_connection.connection_pool.connection_kwargs["path"]
    program = Path(sys.executable).parent / "rq"

    def run(*arguments):
        command = [program, *arguments, "--url", f"unix://{path}"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def test_a_busy_worker_and_its_job_are_shown(queue, worker, gates, wait_until, seen, rq):
    worker()
    [job] = gates.push(queue, "long")
    gates.begun("long")
    wait_until(lambda: seen().get_current_job_id() == job.id)
    assert (seen().get_state(), seen().get_current_job().func_name) == ("busy", "/probe/wait")
    assert "worker atributo-a" in rq("info", "--raw") and " busy " in rq("info", "--raw")
    gates.open("long")
    wait_until(lambda: seen().get_state() == "idle")
    assert seen().get_current_job_id() is None


def test_jobs_are_counted(queue, act, worker, wait_until, seen, rq, redis_connection):
    Queue("theirs", connection=redis_connection).enqueue(os.getpid)  # beside queues of others, too
    worker()
    queue.push_many(act, [None] * 5)
    queue.push(act, {"odd": True}, max_failures=0)
    wait_until(lambda: (seen().successful_job_count, seen().failed_job_count) == (5, 1))
    assert seen().total_working_time > 0
    assert "5 finished, 1 failed" in rq("info", "--raw")


@pytest.mark.urls("tests.queues.many.rq_pages")
def test_the_pages_of_django_rq_show_the_worker(
    queue, worker, gates, wait_until, seen, rf, admin_user
):
    worker()
    [job] = gates.push(queue, "long")
    gates.begun("long")
    wait_until(lambda: seen().get_current_job_id() == job.id)
    request = rf.get("/")
    request.user = admin_user
    page = django_rq.views.worker_details(request, 1, "rq:worker:atributo-a").content
    assert b"/probe/wait" in page and b"busy" in page
    gates.open("long")


def test_a_suspended_worker_takes_no_job_until_it_is_resumed(
    queue, act, worker, wait_until, seen, rq
):
    worker()
    rq("suspend")
    wait_until(lambda: seen() is not None and seen().get_state() == "suspended")
    job = queue.get(queue.push(act))
    wait_until(lambda: seen().get_state() == "suspended")
    assert run_script(act["mount"], act["name"], [6, 7]).result == [6, 7]  # somebody waits for it
    assert job.status == "pending"
    rq("resume")
    wait_until(lambda: job.status == "complete")


@pytest.mark.parametrize("arguments", [[], ["--concurrency", "3"]])
def test_no_job_begins_between_suspend_and_resume(
    arguments, probe, act, worker, wait_until, redis_connection, seen
):
    queue = queues.create("busy", max_workers=3)
    queue.push_many(act, [{"sleep": 0.002}] * 2000)
    worker("a", *arguments)
    wait_until(lambda: QueuedJob.objects.filter(status="complete").exists())
    suspend(redis_connection)
    wait_until(lambda: seen().get_state() == "suspended")
    jobs = QueuedJob.objects.filter(status="complete").count()
    assert QueuedJob.objects.exclude(slot=None).count() == 0
    assert 0 < jobs < 2000
    resume(redis_connection)
    wait_until(lambda: QueuedJob.objects.filter(status="complete").count() > jobs)


def test_the_rest_of_a_batch_is_given_back(queue, act, hands, tmp_path, executions, monkeypatch):
    """The second job of ten suspends the workers; the child may have begun the third."""
    monkeypatch.setattr(slot_runner, "SHORT_SECONDS", 60.0)
    order = {"file": str(tmp_path / "ran"), "sleep": 0.05}
    ids = queue.push_many(act, [order] * 10)
    slot = hands.acquire("work")
    runner = hands.runner(slot, is_halted=lambda: executions() >= 2)
    runner.size = 10
    batch = runner.reserve(slot, 10)
    assert len(batch.jobs) == 10
    hands.follow(runner._run_batch(batch))
    assert executions() <= 3
    assert QueuedJob.objects.filter(status="pending", slot=None).count() == 10 - executions()
    assert QueuedJob.objects.filter(pk__in=ids, status="complete").count() == executions()


def test_the_shutdown_command_of_rq_ends_a_worker_cleanly(
    queue, worker, gates, wait_until, seen, redis_connection
):
    process = worker()
    [job] = gates.push(queue, "long")
    gates.begun("long")
    wait_until(lambda: seen() is not None)
    send_shutdown_command(redis_connection, seen().name)
    gates.open("long")
    assert process.wait(timeout=60) == 0
    assert job.status == "complete"


def test_commands_for_others_and_nonsense_are_ignored(
    queue, act, worker, wait_until, seen, redis_connection
):
    process = worker()
    wait_until(lambda: seen() is not None)
    for text in ("{", "[]", '{"command": 5}', '{"command": "kill-horse"}'):
        redis_connection.publish("rq:pubsub:atributo-a", text)
    send_shutdown_command(redis_connection, "a")  # a worker of RQ that has the same name
    job = queue.get(queue.push(act))
    wait_until(lambda: job.status == "complete")
    assert process.is_running()


def test_a_worker_of_django_rq_works_beside_ours(queue, act, worker, spawn, wait_until, seen):
    worker()
    django_rq.enqueue(os.getpid)
    theirs = spawn("rqworker", "default", "--burst")
    job = queue.get(queue.push(act))
    wait_until(lambda: job.status == "complete")
    assert theirs.wait(timeout=60) == 0
    assert django_rq.get_queue().finished_job_registry.count == 1
    wait_until(lambda: seen().get_state() == "idle")
