"""Bells: none is missed, which is answered next, and who waits for whom."""

import json
import threading
import time

import pytest
from django.db import connection, connections
from django.db.transaction import atomic

import queues
from queues.logic.lifecycle import Outcome
from queues.models import Queue, QueuedJob, Slot
from queues.runs import outcomes, slots
from queues.runs.doorbell import CHANNEL, Bell, ring, ring_ahead
from queues.runs.doorbell import connection as redis_of
from queues.runs.outcome_rows import AttemptResult
from queues.runs.reservation import reserve
from queues.runs.slots import has_due
from queues.worker import slot_runner
from queues.worker.bells import BellListener
from queues.worker.presence import WorkerPresence
from queues.worker.worker import Worker

FIRST = f"rq:queue:{CHANNEL}-first"
OTHERS = f"rq:queue:{CHANNEL}"
WAITS_FOR_A_ROW = """
    SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'
"""


class Clock:
    now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def ear(redis_connection, clock):
    return BellListener(redis_of(2.0), "", lambda _: None, monotonic=clock)


@pytest.fixture
def call(probe):
    """call("a") rings at an idle queue; call("a", leftover=True) at what is left of one."""

    def run(name, **kind):
        queues.create(name)
        row = Queue.objects.get(name=name)
        Slot.objects.filter(queue=row).update(rung_at=None)
        ring(row.pk, name, **kind)
        return row.pk

    return run


@pytest.fixture
def in_process(probe, redis_connection):
    worker = Worker("here", WorkerPresence("here", {}))
    worker.presence.take()
    yield worker
    worker.lanes.close()


@pytest.mark.only_on("postgresql")
def test_a_push_that_meets_the_end_of_the_job_before_rings(
    queue, act, redis_connection, wait_until
):
    """The push looks at the slots, the slot is freed, nobody sees the job yet, the push commits."""
    slot = slots.acquire("work", 0, "worker")
    pusher = threading.Thread(target=push_and_close, args=(queue, act))
    with pytest.raises(ZeroDivisionError), atomic():
        QueuedJob.objects.create(
            id=1, queue=Queue.objects.get(name="work"), script="x", unique_key="k"
        )
        pusher.start()  # its statement has begun, and waits to see what becomes of that key
        wait_until(lambda: in_another_connection(how_many_wait) == 1)
        in_another_connection(slot.release)
        assert in_another_connection(lambda: has_due(slot.queue_id)) is False
        1 / 0  # noqa: B018
    pusher.join()
    assert redis_connection.llen(FIRST) == 1


@pytest.mark.only_on("postgresql")
def test_a_slot_is_not_left_while_a_push_that_saw_it_taken_commits(
    queue, act, redis_connection, wait_until
):
    """Whoever leaves the slot waits for that push, and sees its job."""
    slot = slots.acquire("work", 0, "worker")
    seen = []
    leaver = threading.Thread(target=leave_and_look, args=(slot, seen))
    pusher = threading.Thread(target=push_and_close, args=(queue, act))
    with atomic():
        list(Queue.objects.select_for_update().filter(name="work"))
        pusher.start()  # it has looked at the slots, and its commit waits for the queue's row
        wait_until(lambda: in_another_connection(how_many_wait) == 1)
        leaver.start()
        wait_until(lambda: in_another_connection(how_many_wait) == 2)
    pusher.join()
    leaver.join()
    assert seen == [True]


@pytest.mark.only_on("postgresql")
def test_results_do_not_wait_for_a_push_that_watches_the_slot(queue, act):
    """They are stored at once, and the slot is left later."""
    queue.push(act)
    slot = slots.acquire("work", 0, "worker")
    batch = reserve(slot, 1)
    result = AttemptResult(batch.jobs[0], Outcome.COMPLETE, batch.now, batch.now)
    with atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT id FROM queues_slot WHERE id = %s FOR KEY SHARE", [slot.id])
        store = lambda: outcomes.record_and_leave(slot, [result], "worker")  # noqa: E731
        assert in_another_connection(store) == ({result.job.id}, None)
        in_another_connection(slot.renew)  # it is held as before
    assert outcomes.record_and_leave(slot, [], "worker") == (set(), [])


@pytest.mark.only_on("postgresql")
def test_a_renewal_does_not_wait_for_pushes(queue, act, wait_until):
    slot = slots.acquire("work", 0, "worker")
    pusher = threading.Thread(target=push_and_close, args=(queue, act))
    with atomic():
        list(Queue.objects.select_for_update().filter(name="work"))
        pusher.start()
        wait_until(lambda: in_another_connection(how_many_wait) == 1)
        in_another_connection(slot.renew)
    pusher.join()


def push_and_close(queue, act):
    queue.push(act, unique_key="k")
    connections.close_all()


def leave_and_look(slot, seen):
    slot.release()
    seen.append(has_due(slot.queue_id))
    connections.close_all()


def how_many_wait():
    with connection.cursor() as cursor:
        cursor.execute(WAITS_FOR_A_ROW)
        return cursor.fetchone()[0]


def in_another_connection(step):
    told = []

    def run():
        told.append(step())
        connections.close_all()

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return told[0]


def test_a_bell_answered_in_vain_is_rung_again_when_the_queue_goes_on(queue, act, redis_connection):
    queue.push(act)
    queues.pause("work")
    redis_connection.flushall()
    assert slots.acquire("work", 0, "worker") is None
    queues.resume("work")
    assert redis_connection.llen(FIRST) == 1


def test_a_queue_that_goes_on_just_then_is_worked_at(queue, act, monkeypatch):
    """Resumed between the look at the queue and the mark that nobody is on the way."""
    queue.push(act)
    queues.pause("work")
    unring = slots._unring
    monkeypatch.setattr(slots, "_unring", lambda *given: [queues.resume("work"), unring(*given)][1])
    assert slots.acquire("work", 0, "worker") is not None


def test_a_slot_below_a_lowered_limit_is_rung_once_those_above_are_free(
    probe, act, redis_connection, in_process
):
    queue = queues.create("wide", max_workers=2)
    above = slots.acquire("wide", 1, "other")
    queues.create("wide", max_workers=1)
    queue.push(act)
    redis_connection.flushall()
    in_process.run_slot(Bell("wide", 0))  # in vain: one still runs
    above.release()
    queues.create("wide")
    assert redis_connection.llen(FIRST) == 1


def test_ringing_again_keeps_the_place_in_the_line(call, redis_connection):
    for name in ("a", "b", "a"):
        call(name, leftover=True)
    line = redis_connection.lrange(OTHERS, 0, -1)
    assert [hash_of(redis_connection, message)[0] for message in line] == ["a", "b"]


def hash_of(redis, message_id):
    import zlib

    return json.loads(zlib.decompress(redis.hget(b"rq:job:" + message_id, "data")))[2]


def test_the_first_bell_of_an_idle_queue_is_answered_before_leftovers(call, ear):
    call("backlog", leftover=True)
    call("idle")
    assert [ear.wait(), ear.wait()] == [Bell("idle", 0, first=True), Bell("backlog", 0)]


def test_leftovers_come_first_for_as_long_as_a_first_bell_took(call, ear, clock):
    running = call("backlog", leftover=True)
    ear.answered(Bell("greedy", 0, first=True), 3.0)
    call("idle")
    assert ear.urgent(running) is None
    assert ear.wait() == Bell("backlog", 0)
    clock.now += 3.1
    assert ear.urgent(running) == Bell("idle", 0, first=True)


def test_nobody_is_kept_waiting_for_longer_than_a_slice(call, ear, clock):
    call("backlog", leftover=True)
    ear.answered(Bell("greedy", 0, first=True), 3600.0)
    clock.now += 5.1
    call("idle")
    assert ear.urgent(0) == Bell("idle", 0, first=True)


def test_a_bell_that_made_nobody_wait_costs_nothing(call, ear):
    ear.answered(Bell("long", 0, first=True), 3.0)
    call("idle")
    assert ear.urgent(0) == Bell("idle", 0, first=True)


def test_bells_of_the_same_queue_call_nobody_away(call, ear):
    running = call("busy")
    assert ear.urgent(running) is None


def test_of_many_workers_one_is_called_away(call, ear, redis_connection):
    other = BellListener(redis_of(2.0), "", lambda _: None)
    call("idle")
    assert [ear.urgent(0), other.urgent(0)] == [Bell("idle", 0, first=True), None]


def test_redis_is_not_asked_between_every_two_short_jobs(call, ear, clock):
    assert ear.urgent(0) is None
    call("idle")
    assert ear.urgent(0) is None
    clock.now += 0.03
    assert ear.urgent(0) == Bell("idle", 0, first=True)


def test_only_one_bell_of_many_is_a_first_one(probe, act, redis_connection):
    queues.create("wide", max_workers=3).push_many(act, [None] * 5)
    assert (redis_connection.llen(FIRST), redis_connection.llen(OTHERS)) == (1, 2)


def test_a_job_that_outranks_the_backlog_of_its_queue_does_not_wait_for_its_turn(
    queue, act, call, redis_connection
):
    queue.push(act)
    call("work", leftover=True)
    redis_connection.delete(FIRST)
    queue.push(act)
    assert redis_connection.llen(FIRST) == 0
    queue.push(act, priority=1)
    assert redis_connection.llen(FIRST) == 1


def test_a_job_of_the_same_rank_waits_for_the_turn_of_its_queue(queue, act, call, redis_connection):
    queue.push(act, priority=1)
    call("work", leftover=True)
    redis_connection.delete(FIRST)
    queue.push(act, priority=1)
    assert redis_connection.llen(FIRST) == 0


def test_a_bell_ahead_finds_a_slot_that_is_rung_already(call, redis_connection):
    queue_id = call("work", leftover=True)
    assert ring_ahead(queue_id, "work") == 1
    assert (redis_connection.llen(FIRST), redis_connection.llen(OTHERS)) == (1, 1)


def test_queues_with_a_backlog_take_turns(act, call, in_process, redis_connection, monkeypatch):
    monkeypatch.setattr(slot_runner, "SLICE_SECONDS", 0.01)
    for name in "abc":
        queues.create(name).push_many(act, [{"sleep": 0.02}] * 3)
        redis_connection.delete(FIRST)
        call(name, leftover=True)
    for _ in range(9):
        in_process.round()
    jobs = QueuedJob.objects.order_by("started_at").values_list("queue__name", flat=True)
    assert "".join(jobs) == "abcabcabc"


def test_whoever_is_called_away_has_run_a_job_before(probe, act, in_process):
    first, second = queues.create("first").push(act), queues.create("second").push(act)
    in_process.round()
    assert QueuedJob.objects.get(pk=first).status == "complete"
    in_process.round()
    assert QueuedJob.objects.get(pk=second).status == "complete"


def test_jobs_of_another_queue_wait_for_the_running_job_only(
    probe, act, worker, wait_until, tmp_path
):
    """Of a backlog at most one job starts between a push to an idle queue and its start."""
    backlog, idle = queues.create("backlog"), queues.create("idle")
    ran, urgent = tmp_path / "ran", tmp_path / "urgent"
    backlog.push_many(act, [{"file": str(ran), "sleep": 0.2}] * 60)
    worker()
    for number in range(1, 4):
        wait_until(lambda: len(starts(ran)) >= 2 * number)  # noqa: B023
        pushed = time.time()
        idle.push(act, {"file": str(urgent)}, priority=2)
        wait_until(lambda: len(starts(urgent)) == number)  # noqa: B023
        began = starts(urgent)[-1]
        assert len([start for start in starts(ran) if pushed < start < began]) <= 1
    assert len(backlog.pending()) > 20


def starts(path):
    lines = path.read_text().splitlines() if path.exists() else []
    return [float(line.split()[1]) for line in lines]
