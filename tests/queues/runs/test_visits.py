"""What a worker asks Redis and the database when it goes from queue to queue."""

from datetime import timedelta

import pytest
from redis import Redis

import queues
from atributo_site.core.errors import LeaseLost
from atributo_site.core.models.clock import database_now
from atributo_site.core.postgresql import libpq
from queues.logic.lifecycle import Outcome
from queues.models import Queue, QueuedJob, Slot
from queues.runs import outcomes, reservation, slots
from queues.runs.doorbell import CHANNEL, Bell, ring
from queues.runs.doorbell import connection as redis_of
from queues.runs.outcome_rows import AttemptResult
from queues.testing.inline_child import InlineChild
from queues.worker.bells import PAGE, BellListener
from queues.worker.notes_reader import name_of
from queues.worker.presence import WorkerPresence
from queues.worker.worker import Worker

FIRST = f"rq:queue:{CHANNEL}-first"
OTHERS = f"rq:queue:{CHANNEL}"
NAMES = ("a", "b", "c", "d")


@pytest.fixture
def alarms():
    return []


@pytest.fixture
def ear(redis_connection, alarms):
    return BellListener(redis_of(2.0), "", alarms.append, monotonic=lambda: 1000.0)


@pytest.fixture
def asked(monkeypatch):
    """The commands that Redis was sent one by one, in their order."""
    sent = []
    execute = Redis.execute_command

    def spy(self, *words, **options):
        sent.append(words[0])
        return execute(self, *words, **options)

    monkeypatch.setattr(Redis, "execute_command", spy)
    return sent


@pytest.fixture
def worker(probe, redis_connection):
    worker = Worker("here", WorkerPresence("here", {}))
    worker.presence.take()
    worker.announce()
    worker.lanes.alone[0].workhorse = Inside()
    yield worker
    worker.lanes.close()


class Inside(InlineChild):
    """Runs a whole batch at once, however slow the machine is."""

    def takes_notes(self):
        return True


@pytest.fixture
def waiting(probe, act):
    """Three jobs in each of four queues, and a bell for each."""
    for name in NAMES:
        queues.create(name).push_many(act, [None] * 3)


def test_a_bell_that_hangs_comes_with_its_message_in_one_round_trip(waiting, ear, asked):
    assert ear.wait() == Bell("a", 0, first=True)  # that one might have been waited for
    asked.clear()
    assert ear.wait() == Bell("b", 0, first=True)
    assert (asked, ear.hanging) == (["EVAL"], 2)
    assert [ear.wait(), ear.wait()] == [Bell("c", 0, first=True), Bell("d", 0, first=True)]
    assert ear.hanging == 0


def test_a_worker_waits_for_bells_again_when_none_hangs(waiting, ear):
    bells = [ear.wait() for _ in NAMES]
    assert None not in bells
    assert ear.wait() is None
    queue = Queue.objects.get(name="b")
    Slot.objects.update(rung_at=None)
    ring(queue.pk, queue.name)
    assert ear.wait() == Bell("b", 0, first=True)


def test_a_foreign_message_among_hanging_bells_is_set_aside(waiting, ear, alarms, redis_connection):
    ear.wait()
    redis_connection.set("rq:job:no-hash", "text")
    redis_connection.lpush(FIRST, "no-hash")
    assert ear.wait() is None
    assert alarms == [b"no-hash"]
    assert redis_connection.lrange(f"{OTHERS}-foreign", 0, -1) == [b"no-hash"]
    assert ear.wait() == Bell("b", 0, first=True)


def test_a_message_that_has_expired_is_no_bell(waiting, ear, alarms, redis_connection):
    ear.wait()
    redis_connection.lpush(FIRST, "gone")
    assert (ear.wait(), alarms) == (None, [])


def test_whoever_takes_a_hanging_bell_sees_that_workers_are_suspended(
    waiting, worker, redis_connection, asked
):
    worker.listen()
    worker.listen()
    assert worker.listener.saw_suspension is False
    redis_connection.set("rq:suspended", 1)
    worker.listen()
    asked.clear()
    assert worker.rq.is_suspended()
    assert asked == []


def test_a_look_for_urgent_bells_does_not_read_all_of_them(ear, redis_connection, monkeypatch):
    redis_connection.rpush(FIRST, *(f"{CHANNEL}-first-{number}-1" for number in range(3 * PAGE)))
    pages = []
    read = Redis.lrange
    monkeypatch.setattr(
        Redis, "lrange", lambda *given: [pages.append(answer := read(*given)), answer][1]
    )
    ear.urgent(0)
    assert [len(page) for page in pages] == [PAGE]


def test_an_urgent_bell_is_found_behind_many_of_the_same_queue(waiting, ear, redis_connection):
    own = [f"{CHANNEL}-first-1-{number}" for number in range(2 * PAGE)]
    redis_connection.lpush(FIRST, *own)
    assert ear.urgent(1) == Bell("a", 0, first=True)
    assert redis_connection.llen(FIRST) == len(own) + len(NAMES) - 1


def test_whether_others_wait_is_asked_once_for_many_short_visits(ear, asked):
    for _ in range(8):
        ear.answered(Bell("a", 0, first=True), 0.006)
    assert asked == ["EXISTS", "EXISTS"]  # after 24 ms each


def test_short_visits_owe_the_others_what_they_took_together(ear, call_leftover):
    for _ in range(6):
        ear.answered(Bell("a", 0, first=True), 0.004)
    assert ear.urgent(0) is None  # it is patient
    assert ear.wait() == Bell("left", 0)


@pytest.fixture
def call_leftover(probe):
    queues.create("left")
    row = Queue.objects.get(name="left")
    ring(row.pk, row.name, leftover=True)


def test_a_queue_is_asked_once_for_jobs_while_others_wait(waiting, worker, monkeypatch):
    """Those who find fewer jobs than they asked for leave; the look at leaving finds the rest."""
    asked_for = counted(monkeypatch, reservation, "_rows")
    worker.listen()  # only a bell that hung before tells how many others do
    visit(worker, size=10)
    visit(worker, size=10)
    assert ended() == {"b", "c"}
    assert asked_for == []  # those that came with the slot were all


@pytest.mark.only_on("postgresql")
def test_a_visit_among_others_is_two_messages_to_the_database(waiting, worker, monkeypatch):
    """One takes the slot with its first jobs, one stores the results and leaves."""
    worker.listen()
    alone = counted(monkeypatch, libpq, "run_prepared")
    in_turn = counted(monkeypatch, libpq, "run_in_turn")
    visit(worker, size=10)
    assert ended() == {"b"}
    assert [len(transactions) for _, transactions in in_turn] == [1, 2]
    assert alone == []


def test_a_slot_that_is_lost_is_not_left_and_keeps_what_it_has_reserved(waiting):
    """Whoever recovers it knows from the notes what has run."""
    slot, rows = slots.acquire_with_jobs("a", 0, "here", 10)
    batch = reservation.reserve(slot, 10, rows)
    Slot.objects.update(leased_until=database_now() - timedelta(seconds=1))
    results = [AttemptResult(job, Outcome.COMPLETE, batch.now, batch.now) for job in batch.jobs]
    with pytest.raises(LeaseLost):
        outcomes.record_and_leave(slot, results, "here")
    assert QueuedJob.objects.filter(slot=slot.id, status="pending").count() == 3


def test_jobs_that_were_deleted_meanwhile_leave_the_slot_free(waiting):
    slot, rows = slots.acquire_with_jobs("a", 0, "here", 10)
    batch = reservation.reserve(slot, 10, rows)
    QueuedJob.objects.filter(queue=slot.queue_id).delete()
    results = [AttemptResult(job, Outcome.COMPLETE, batch.now, batch.now) for job in batch.jobs]
    assert outcomes.record_and_leave(slot, results, "here") == (set(), [])
    assert Slot.objects.get(pk=slot.id).holder == ""


def test_a_paused_queue_gives_neither_slot_nor_jobs(waiting):
    queues.pause("a")
    assert slots.acquire_with_jobs("a", 0, "here", 10) is None
    assert not QueuedJob.objects.exclude(slot=None).exists()


def test_a_job_that_comes_before_a_slot_is_left_is_rung_for(
    waiting, act, worker, monkeypatch, redis_connection
):
    worker.listen()
    leave = outcomes.record_and_leave
    monkeypatch.setattr(
        outcomes, "record_and_leave", lambda *given: [queues.get("b").push(act), leave(*given)][1]
    )
    visit(worker, size=10)
    messages = redis_connection.lrange(FIRST, 0, -1) + redis_connection.lrange(OTHERS, 0, -1)
    assert b"-%d-" % Queue.objects.get(name="b").pk in b" ".join(messages)


def test_a_visit_among_others_is_one_command_of_redis(waiting, worker, asked):
    """Looks whether workers are suspended or others wait depend on the clock."""
    worker.listen()
    asked.clear()
    visit(worker, size=10)
    assert [command for command in asked if command != "EXISTS"] == ["EVAL"]


def test_notes_of_left_slots_are_deleted_together_before_a_worker_waits(
    waiting, worker, redis_connection, asked, monkeypatch
):
    keys = []
    leave = outcomes.record_and_leave

    def note_and_leave(slot, *given):
        keys.append(name_of(slot.notes_key))
        redis_connection.set(keys[-1], "")
        return leave(slot, *given)

    monkeypatch.setattr(outcomes, "record_and_leave", note_and_leave)
    worker.listen()
    visit(worker, size=10)
    visit(worker, size=10)
    assert (redis_connection.exists(*keys), asked.count("DEL")) == (2, 0)
    worker.listen()  # to the last one that hangs
    worker.listen()
    assert (redis_connection.exists(*keys), asked.count("DEL")) == (0, 1)


def visit(worker, size):
    """Answer the next bell with so many jobs at once."""
    worker.runners._last_size = size
    worker.answer(worker.listen())


def ended():
    rows = QueuedJob.objects.filter(ended_at__isnull=False).values_list("queue__name", flat=True)
    return set(rows)


def counted(monkeypatch, module, name):
    calls = []
    real = getattr(module, name)
    monkeypatch.setattr(
        module, name, lambda *given, **options: [calls.append(given), real(*given, **options)][1]
    )
    return calls
