"""Real worker processes: started, killed, stopped, without Redis."""

import json
import os
import signal
import zlib

import psutil
import pytest

import queues
from atributo_site.core.models import Event, Lease
from queues.models import QueuedJob, Run, Slot
from queues.runs.doorbell import ASIDE, CHANNEL, ENTRY
from tests.queues.worker.standstill import stop_between_writes
from tests.servers.process import has_ended

BELLS = f"rq:queue:{CHANNEL}"
KEPT = f"rq:queue:{ASIDE}"


def child_of(process):
    return psutil.Process(process.pid).children()[0]


@pytest.fixture
def wait_script(probe):
    return {"mount": probe, "name": "wait"}


@pytest.fixture
def gate(tmp_path, wait_until, sweep):
    """A running `wait` script: gate.data starts it, gate.started() waits, gate.open() ends it."""
    path = tmp_path / "started"

    class Gate:
        data = {"started": str(path), "go": str(tmp_path / "go")}

        def started(self):
            wait_until(lambda: [sweep(), path.exists()][1])

        def again(self):
            path.unlink()

        def open(self):
            (tmp_path / "go").touch()

    return Gate()


@pytest.fixture
def until(wait_until, sweep):
    """Wait for a job's status while the curator sweeps."""

    def wait(job, status, timeout=60):
        def reached():
            sweep()
            return job.status == status

        wait_until(reached, timeout, f"{job!r} did not become {status}")

    return wait


def test_a_push_wakes_a_waiting_worker(queue, act, worker, until):
    worker()
    job = queue.get(queue.push(act, [6, 7]))
    until(job, "complete")
    assert job.result == [6, 7]
    assert Run.objects.get().worker == "a"


def test_a_long_job_is_in_progress_while_it_runs(queue, wait_script, worker, gate, until):
    worker()
    job = queue.get(queue.push(wait_script, gate.data))
    gate.started()
    until(job, "progress")
    assert queue.progress() == [job.id]
    gate.open()
    until(job, "complete")


def test_progress_is_seen_while_it_runs(queue, wait_script, worker, gate, wait_until):
    worker()
    queue.push(wait_script, gate.data)
    wait_until(Run.objects.filter(percent=50, note="half").exists)
    gate.open()


def test_a_killed_worker_is_a_lost_run(
    queue, wait_script, worker, gate, until, wait_until, expire_leases
):
    first = worker("first")
    job = queue.get(queue.push(wait_script, gate.data))
    gate.started()
    until(job, "progress")
    orphan = child_of(first)
    first.kill()
    assert expire_leases(first) == 1
    gate.again()
    worker("second")
    gate.started()
    gate.open()
    until(job, "complete")
    outcomes = list(Run.objects.order_by("attempt").values_list("outcome", flat=True))
    assert outcomes == ["lost", "complete"]
    assert job.failures == []
    wait_until(lambda: has_ended(orphan.pid))


def test_a_killed_child_is_a_failure(queue, wait_script, worker, gate, until):
    process = worker()
    job = queue.get(queue.push(wait_script, gate.data))
    gate.started()
    until(job, "progress")
    child_of(process).kill()
    until(job, "failed")
    assert job.failures == ["the process was killed (signal 9, SIGKILL)"]
    other = queue.get(queue.push({"mount": "/probe", "name": "act"}))
    until(other, "complete")


def test_an_aborted_running_job_is_stopped(queue, wait_script, worker, gate, until, wait_until):
    process = worker()
    job = queue.get(queue.push(wait_script, gate.data))
    gate.started()
    until(job, "progress")
    child = child_of(process)
    job.abort()
    assert job.status == "failed"
    wait_until(lambda: has_ended(child.pid))
    other = queue.get(queue.push({"mount": "/probe", "name": "act"}))
    until(other, "complete")
    assert (job.status, job.failures) == ("failed", ["Job aborted."])


def test_an_abort_does_not_wait_for_a_heartbeat(
    queue, wait_script, worker, gate, until, wait_until, monkeypatch
):
    monkeypatch.setenv("ATRIBUTO_WORKER_LEASE_MS", "120000")
    monkeypatch.setenv("ATRIBUTO_WORKER_HEARTBEAT_MS", "60000")
    process = worker()
    job = queue.get(queue.push(wait_script, gate.data))
    gate.started()
    until(job, "progress")
    child = child_of(process)
    job.abort()
    wait_until(lambda: has_ended(child.pid))


def test_a_stopped_worker_is_fenced_when_it_wakes(
    queue, wait_script, worker, gate, until, expire_leases
):
    first = worker("first")
    job = queue.get(queue.push(wait_script, gate.data))
    gate.started()
    until(job, "progress")
    stop_between_writes(lambda: first)
    assert expire_leases(first) == 1
    gate.again()
    worker("second")
    gate.started()
    gate.open()
    until(job, "complete")
    first.send_signal(signal.SIGCONT)
    first.wait_for_line("slot_lost")
    outcomes = list(Run.objects.order_by("attempt").values_list("outcome", flat=True))
    assert outcomes == ["lost", "complete"]


def test_a_clean_stop_lets_the_job_finish(queue, wait_script, worker, gate, until):
    process = worker()
    job = queue.get(queue.push(wait_script, gate.data))
    gate.started()
    until(job, "progress")
    process.send_signal(signal.SIGTERM)
    gate.open()
    assert process.wait() == 0
    assert job.status == "complete"
    assert not Lease.objects.held().filter(role="worker/a").exists()
    assert not Slot.objects.exclude(holder="").exists()


def test_a_clean_stop_gives_back_what_does_not_finish(queue, wait_script, worker, gate, until):
    process = worker()
    job = queue.get(queue.push(wait_script, gate.data))
    gate.started()
    until(job, "progress")
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 0
    assert (job.status, job.failures) == ("pending", [])
    assert Run.objects.get().outcome == "released"


def test_the_limit_of_a_queue_is_exact(probe, wait_script, gate, worker, wait_until):
    queue = queues.create("two", max_workers=2)
    for name in "abc":
        worker(name)
    queue.push_many(wait_script, [gate.data] * 12)
    seen = []

    def at_once():
        seen.append(Slot.objects.live().filter(queue__name="two").count())
        seen.append(len(queue.progress()))
        return seen[-1]

    wait_until(lambda: at_once() == 2)
    gate.open()
    wait_until(lambda: [at_once(), not QueuedJob.objects.unfinished().exists()][1])
    assert max(seen) == 2
    assert len(queue.complete()) == 12


def test_flushed_bells_are_rung_again(queue, act, worker, redis_connection, until):
    queues.pause("work")
    job = queue.get(queue.push(act))
    queues.resume("work")
    redis_connection.flushall()
    worker()
    until(job, "complete")


def bell(*arguments):
    return zlib.compress(json.dumps([ENTRY, None, arguments, {}]).encode())


UNREADABLE = [
    b"\x80\x04cposix\nsystem\n.",
    zlib.compress(b"[" * 1900),
    bell("\ud800", 0),
    bell("a\0b", 0),
    bell("work", 10**30),
    bell("work", -1),
]
OF_NO_QUEUE = bell("x" * 1000, 0)


def test_forged_messages_change_nothing(queue, act, worker, redis_connection, until, wait_until):
    process = worker()
    evil = b'["os.system", null, ["touch /tmp/atributo-owned"], {}]'
    fields = {"data": evil, "origin": "default", "success_callback_name": "os.abort"}
    for number in range(50):
        redis_connection.hset(f"rq:job:evil-{number}", mapping=fields)
        redis_connection.rpush(BELLS, f"evil-{number}", "missing", "slot-1")
    for number, data in enumerate(UNREADABLE):
        redis_connection.hset(f"rq:job:odd-{number}", mapping={"data": data})
        redis_connection.rpush(BELLS, f"odd-{number}")
    redis_connection.set("rq:job:text", "no hash")
    redis_connection.hset(b"rq:job:\xff\xfe", "data", evil)
    redis_connection.hset("rq:job:lost", "data", OF_NO_QUEUE)
    redis_connection.rpush(BELLS, "text", b"\xff\xfe", "lost", "a b:c", "")
    wait_until(lambda: not process.is_running() or not redis_connection.llen(BELLS))
    assert process.is_running()
    job = queue.get(queue.push(act))
    until(job, "complete")
    assert not os.path.exists("/tmp/atributo-owned")
    assert process.wait_for_line("foreign_message")
    assert Event.objects.filter(kind="doorbell.foreign").count() == 1
    kept = redis_connection.lrange(KEPT, 0, -1)
    assert len(kept) == 50 + len(UNREADABLE) + len([b"text", b"\xff\xfe"])
    assert all(redis_connection.exists(b"rq:job:" + message_id) for message_id in kept)


def test_a_worker_stops_cleanly_from_the_moment_it_is_seen(worker):
    process = worker()
    child = psutil.Process(process.pid)
    assert child.ppid() == os.getpid()
    process.send_signal(signal.SIGINT)
    assert process.wait() == 0


def test_two_workers_of_one_name_are_refused(worker, worker_process):
    worker("same")
    second = worker_process("--name", "same", env={"ATRIBUTO_WORKER_LEASE_MS": "1000"})
    assert second.wait(60) == 1
    assert "another live process" in second.output()
