"""What is told as aborted, deleted or paused while it waits never begins, whoever reserved it."""

import math
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.db import connections

import queues
from atributo_site.core.models import Event
from queues.catalogue import scale_by
from queues.errors import JobIsHeld
from queues.jobs import aborting, actions, bulk
from queues.models import Queue, QueuedJob, Run
from queues.runs import held_jobs
from queues.runs.outcomes import record_start
from queues.runs.reservation import reserve
from queues.runs.slots import acquire
from queues.services import installation
from queues.worker import slot_runner
from queues.worker.slot_runner import SlotRunner


@pytest.fixture
def batch(queue, probe, act, hands, tmp_path, monkeypatch, wait_until):
    """Two jobs in the hands of a worker: the first runs until it is let go, the second waits."""
    monkeypatch.setattr(slot_runner, "SHORT_SECONDS", 30.0)
    files = {name: str(tmp_path / name) for name in ("started", "go", "ran")}
    queue.push({"mount": probe, "name": "wait"}, files)
    second = queue.push(act, {"file": files["ran"]}, repeat_times=1, repeat_delay=3_600_000)
    slot = acquire(queue.name, 0, "hands")
    working = SlotRunner(slot, hands.workhorse, "hands", lambda: None, lambda: False)
    working.size = 2
    hands.workhorse._ready()  # SQLite bears no fork beside an open connection
    thread = threading.Thread(target=_work, args=[working, slot])
    thread.start()
    wait_until(Path(files["started"]).exists)
    yield int(second), lambda: _let_go(files, thread)
    _let_go(files, thread)


def _work(working, slot):
    working.run()
    slot.give_back()
    slot.release()
    connections.close_all()


def _let_go(files, thread):
    Path(files["go"]).touch()
    thread.join()


def told(deed, is_asked, let_go, wait_until):
    """What `deed` says while the second job is in the hands of a worker that then goes on."""

    def do():
        try:
            return deed()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(do)
        wait_until(lambda: future.done() or is_asked())
        has_answered = future.done()
        let_go()
        return future.result(), has_answered


ENDS = {
    "abort": actions.abort,
    "delete": actions.delete,
    "abort many": lambda job_id: bulk.do("abort", [job_id], schedules=True).changed,
    "delete many": lambda job_id: bulk.do("delete", [job_id], schedules=True).changed,
}


@pytest.mark.parametrize("deed", ENDS.values(), ids=ENDS)
def test_no_answer_before_the_worker_is_done_with_it(deed, batch, wait_until, monkeypatch):
    monkeypatch.setattr(bulk, "BRIEFLY_SECONDS", held_jobs.PATIENCE_SECONDS)
    job_id, let_go = batch
    asked = QueuedJob.objects.filter(pk=job_id, abort_asked_at__isnull=False)
    _, has_answered = told(lambda: deed(job_id), asked.exists, let_go, wait_until)
    assert not has_answered


def test_what_ran_before_the_answer_is_recorded_and_not_repeated(batch, wait_until, executions):
    job_id, let_go = batch
    asked = QueuedJob.objects.filter(pk=job_id, abort_asked_at__isnull=False)
    answer, _ = told(lambda: actions.abort(job_id), asked.exists, let_go, wait_until)
    job = QueuedJob.objects.get(pk=job_id)
    assert (answer, executions(), job.status, job.runs) == (True, 1, "failed", 1)
    assert job.aborted_at is not None
    assert list(Run.objects.filter(job_id=job_id).values_list("outcome", flat=True)) == ["complete"]
    kinds = Event.objects.filter(subject=f"job:{job_id}").order_by("id")
    assert list(kinds.values_list("kind", flat=True)) == ["job.abort_asked", "job.aborted"]


PAUSES = {
    "job": lambda job_id: actions.pause(job_id),
    "queue": lambda job_id: queues.pause("work"),
    "deleted queue": lambda job_id: queues.delete("work"),
    "uninstalled service": lambda job_id: installation.uninstall("/probe", teardown=False),
}
PAUSED = {
    "job": lambda: QueuedJob.objects.filter(paused_at__isnull=False).exists(),
    "queue": lambda: Queue.objects.filter(name="work", paused_at__isnull=False).exists(),
    "deleted queue": lambda: Queue.objects.filter(name="work", deleted_at__isnull=False).exists(),
    "uninstalled service": lambda: Event.objects.filter(kind="service.uninstalled").exists(),
}


@pytest.mark.parametrize("what", PAUSES)
def test_a_pause_is_told_when_nothing_can_begin_any_more(what, batch, wait_until, executions):
    job_id, let_go = batch
    answer, has_answered = told(lambda: PAUSES[what](job_id), PAUSED[what], let_go, wait_until)
    ran = executions()
    assert (answer, has_answered) == (True, False)
    assert ran == Run.objects.filter(job_id=job_id).exclude(outcome="failed").count()


LOWER = {"scaled": lambda: queues.create("work", 1), "a step": lambda: scale_by("work", -1)}


@pytest.mark.parametrize("lower", LOWER.values(), ids=LOWER)
def test_a_lower_limit_waits_for_what_slots_above_it_reserved(lower, queue, act, wait_until):
    queues.create("work", 2)
    queue.push(act)
    slot = acquire("work", 1, "slow")
    reserve(slot, 1)
    lowered = Queue.objects.filter(name="work", max_workers=1)
    _, has_answered = told(lower, lowered.exists, slot.give_back, wait_until)
    assert not has_answered


def test_one_that_is_given_back_ends_as_aborted(queue, act, wait_until):
    job_id = int(queue.push(act))
    slot = acquire("work", 0, "slow")
    reserve(slot, 1)
    asked = QueuedJob.objects.filter(pk=job_id, abort_asked_at__isnull=False)
    answer, _ = told(lambda: actions.abort(job_id), asked.exists, slot.give_back, wait_until)
    job = QueuedJob.objects.get(pk=job_id)
    assert (answer, job.status, job.error, job.attempt) == (True, "failed", "Job aborted.", 0)
    assert job.aborted_at is not None and job.ended_at is not None


def test_one_that_was_called_off_is_not_shown_as_running(queue, act):
    job_id = int(queue.push(act))
    slot = acquire("work", 0, "slow")
    reserved = reserve(slot, 1).jobs[0]
    assert aborting.abort([job_id], patience=0.0).silent == {job_id}
    assert not record_start(slot, reserved, "slow", 0.0)


def test_a_worker_that_stays_silent_is_told_of(queue, act, monkeypatch):
    monkeypatch.setattr(held_jobs, "PATIENCE_SECONDS", 0.0)
    job_id = int(queue.push(act))
    reserve(acquire("work", 0, "slow"), 1)
    with pytest.raises(JobIsHeld, match="does not answer yet"):
        actions.abort(job_id)
    assert bulk.do("delete", [job_id]).refused == {str(job_id): bulk.HELD}
    assert QueuedJob.objects.filter(pk=job_id, status="pending").exists()


def test_in_a_storm_nothing_begins_after_it_was_told_as_aborted(queue, probe, worker, tmp_path):
    """Jobs are aborted one by one while two workers run them in batches."""
    queues.create("work", 2)
    trace = tmp_path / "trace"
    script = {"mount": probe, "name": "trace"}
    ids = [int(pk) for pk in queue.push_many(script, [{"trace": str(trace)}] * 300)]
    worker("a")
    worker("b")
    told_at = {}
    for job_id in reversed(ids):
        if actions.abort(job_id):
            told_at[job_id] = time.time()
    lines = [line.split() for line in trace.read_text().splitlines()] if trace.exists() else []
    late = [job for job, _, moment in lines if float(moment) > told_at.get(int(job), math.inf)]
    assert late == []
    ran = {(int(job), int(attempt)) for job, attempt, _ in lines}
    assert ran <= set(Run.objects.values_list("job_id", "attempt"))
