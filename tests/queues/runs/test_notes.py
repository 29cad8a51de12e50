"""A worker that dies repeats at most the one job that it ran, and every execution is recorded."""

import json
import os
import signal
import threading
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connections

import queues
from atributo_site.core.errors import LeaseLost
from atributo_site.core.leases import HeldLease
from atributo_site.core.models import Event
from atributo_site.core.models.clock import database_now
from queues.children.child_process import Workhorse
from queues.children.waits import followed
from queues.errors import BadQueue
from queues.jobs import aborting
from queues.maintenance import recovery
from queues.maintenance.recovery import recover
from queues.models import Queue, QueuedJob, Run, Slot
from queues.runs import doorbell, notes
from queues.runs.doorbell import CHANNEL, client
from queues.runs.notes import name_of
from queues.runs.slots import acquire
from queues.worker import notes_reader, slot_runner
from queues.worker.slot_runner import SlotRunner


def traced(path):
    """How often each job has run, by its own word."""
    lines = path.read_text().splitlines() if path.exists() else []
    return Counter(int(line.split()[0]) for line in lines)


def attempts():
    return list(Run.objects.order_by("job_id", "attempt").values_list("job_id", "outcome"))


@pytest.fixture
def dying(queue, probe, hands, tmp_path, monkeypatch, wait_until):
    """A worker in the middle of a batch: two jobs have ended, the third runs, the fourth waits.

    Nothing of it is in the database. `dying.end()` lets it go on, as a zombie does.
    """
    monkeypatch.setattr(slot_runner, "SHORT_SECONDS", 60.0)
    trace = tmp_path / "trace"
    script, order = {"mount": probe, "name": "trace"}, {"trace": str(trace)}
    files = {name: str(tmp_path / name) for name in ("started", "go")}
    ids = queue.push_many(script, [order, order])
    ids.append(queue.push({"mount": probe, "name": "wait"}, files))
    ids.append(queue.push(script, order))
    slot = acquire(queue.name, 0, "dying")
    worker = SlotRunner(slot, hands.workhorse, "dying", lambda: None, lambda: False, size=4)
    hands.workhorse._ready()  # SQLite bears no fork beside an open connection
    thread = threading.Thread(target=_work, args=[worker])
    thread.start()
    wait_until(Path(files["started"]).exists)
    ids = [int(job_id) for job_id in ids]
    yield Dying(slot, ids, trace, Path(files["go"]), thread, hands.workhorse)
    Path(files["go"]).touch()
    thread.join()


def _work(worker):
    with suppress(LeaseLost):
        worker.run()
    connections.close_all()


class Dying:
    def __init__(self, slot, ids, trace, go, thread, workhorse):
        self.slot, self.ids, self.trace = slot, ids, trace
        self.go, self.thread, self.workhorse = go, thread, workhorse

    def end(self):
        self.go.touch()
        self.thread.join()

    def kill(self):
        os.kill(self.workhorse._pid, signal.SIGKILL)
        self.end()


def recovered(lease=None, **options):
    lease = lease or HeldLease.take("curator", "test", 3600)
    slot = Slot.objects.exclude(holder="").get()
    return recover(slot.pk, database_now(), lease, **options)


def test_what_has_run_is_recorded_and_only_what_ran_is_lost(dying, expire_leases):
    first, second, third, fourth = dying.ids
    assert not Run.objects.exists()
    expire_leases()
    assert recovered()
    assert attempts() == [(first, "complete"), (second, "complete"), (third, "lost")]
    rows = dict(QueuedJob.objects.values_list("pk", "status"))
    assert [rows[pk] for pk in dying.ids] == ["complete", "complete", "pending", "pending"]
    assert set(Run.objects.values_list("worker", flat=True)) == {"dying"}
    assert Event.objects.filter(kind="run.lost").count() == 1
    assert client().exists(name_of(dying.slot.notes_key)) == 0


def test_only_the_lost_one_runs_again(dying, expire_leases, queue):
    expire_leases()
    assert recovered()
    dying.kill()
    workhorse = Workhorse(512)
    slot = acquire(queue.name, 0, "next")
    SlotRunner(slot, workhorse, "next", lambda: None, lambda: False).run()
    workhorse.close()
    first, second, third, fourth = dying.ids
    assert traced(dying.trace) == Counter([first, second, fourth])
    assert attempts()[2:] == [(third, "lost"), (third, "complete"), (fourth, "complete")]


def test_what_a_zombie_writes_later_changes_nothing(dying, expire_leases):
    expire_leases()
    assert recovered()
    before = attempts()
    dying.end()
    assert attempts() == before


def test_a_recovery_that_dies_is_done_again_by_another(dying, expire_leases):
    expire_leases()
    lease = HeldLease.take("curator", "test", 3600)
    taken, _ = recovery._take_over(dying.slot.id, lease)
    assert taken.epoch == dying.slot.epoch + 1
    assert not recovered(lease)  # while the first may still be at it
    expire_leases()
    assert recovered(lease)
    assert [outcome for _, outcome in attempts()] == ["complete", "complete", "lost"]


def test_one_that_was_called_off_does_not_begin_after_recovery(dying, expire_leases):
    *_, third, fourth = dying.ids
    assert aborting.abort([third, fourth], patience=0.0).silent == {third, fourth}
    expire_leases()
    assert recovered()
    ended = QueuedJob.objects.filter(pk__in=[third, fourth]).values_list("status", "error")
    assert list(ended) == [("failed", "Job aborted.")] * 2
    assert attempts()[2:] == [(third, "lost")]


def test_recovery_waits_for_redis_and_not_for_ever(dying, expire_leases):
    expire_leases()
    lease = HeldLease.take("curator", "test", 3600)
    assert not recovered(lease, redis_answers=False)
    assert QueuedJob.objects.reserved().count() == 4
    long_ago = database_now() - 2 * recovery.REDIS_PATIENCE
    Slot.objects.exclude(holder="").update(leased_until=long_ago)
    assert recovered(lease, redis_answers=False)
    assert QueuedJob.objects.waiting().filter(suspect=True).count() == 4


def forged(dying, key, text):
    """A note that says that the fourth job has ended, as somebody who can write to Redis would."""
    message = {"t": "done", "ok": True, "result": "forged", "begun": 0.0, "seconds": 0.0}
    note = {"ended": [dying.ids[3], 1], "said": [message]}
    data = text or json.dumps(note).encode()
    client().rpush(name_of(dying.slot.notes_key), notes.code_of(key, data) + data)


@pytest.mark.parametrize("text", [None, b"nonsense", b""])
def test_a_forged_note_counts_for_nothing(dying, expire_leases, text):
    forged(dying, b"guessed", text)
    client().rpush(name_of(dying.slot.notes_key), b"short")
    expire_leases()
    assert recovered()
    assert [outcome for _, outcome in attempts()] == ["complete", "complete", "lost"]


@pytest.mark.parametrize("spoil", ["set", "delete", "enormous"])
def test_notes_that_are_no_notes_stop_nobody(dying, expire_leases, spoil, monkeypatch):
    name = name_of(dying.slot.notes_key)
    if spoil == "enormous":
        monkeypatch.setattr(notes_reader, "MOST_BYTES", 10)
    else:
        client().delete(name)
    if spoil == "set":
        client().set(name, "no list")
    expire_leases()
    assert recovered()
    assert QueuedJob.objects.waiting().filter(suspect=True).count() == 4


def test_the_key_of_the_notes_is_shown_to_nobody(dying, admin_client):
    assert dying.slot.notes_key not in repr(dying.slot)
    key = Slot.objects.get(pk=dying.slot.id).notes_key
    assert key and key not in name_of(key)
    page = admin_client.get(f"/admin/queues/slot/{dying.slot.id}/change/")
    assert key not in page.text


def test_notes_leave_nothing_behind_in_redis(queue, act, worker, wait_until):
    worker("a")
    ids = queue.push_many(act, [None] * 20)
    done = QueuedJob.objects.filter(pk__in=ids, status="complete")
    wait_until(lambda: done.count() == 20 and not Slot.objects.exclude(holder="").exists())
    wait_until(lambda: not list(client().scan_iter(f"{notes.PREFIX}*")))


def test_a_large_result_ends_its_batch(queue, act, hands, monkeypatch):
    """Its row is written at once, so that Redis does not have to keep it."""
    monkeypatch.setattr(slot_runner, "SHORT_SECONDS", 60.0)
    large = "x" * (notes.LARGEST_END + 1)
    jobs = queue.push_many(act, [{"result": large}, {"result": 2}])
    slot = acquire(queue.name, 0, "hands")
    worker = Counted(slot, hands.workhorse, "hands", lambda: None, lambda: False)
    worker.size = 2
    worker.run()
    assert worker.stored == [1, 1]
    assert [len(queue.get(job).result) for job in jobs[:1]] == [len(large)]


class Counted(SlotRunner):
    """Notes how many outcomes are written at once."""

    def _store(self, playing, **how):
        self.stored = [*getattr(self, "stored", []), len(playing.results)]
        super()._store(playing, **how)


@pytest.fixture
def no_redis(settings):
    """Nobody listens there."""
    dead = {**settings.RQ_QUEUES[CHANNEL], "URL": "redis://127.0.0.1:1/0"}
    settings.RQ_QUEUES = {CHANNEL: dead}
    doorbell._clients.clear()
    yield
    doorbell._clients.clear()


def test_without_redis_every_start_is_recorded_first(queue, probe, no_redis, hands):
    ids = queue.push_many({"mount": probe, "name": "status"}, [None] * 3)
    hands.drain()
    assert [queue.get(job).result for job in ids] == ["progress"] * 3
    assert not hands.workhorse.takes_notes()


def test_a_queue_may_ask_for_every_start_to_be_recorded(queue, probe, hands, monkeypatch):
    monkeypatch.setattr(slot_runner, "SHORT_SECONDS", 60.0)
    queues.set_record_start("work", True)
    status = {"mount": probe, "name": "status"}
    recorded = queue.push_many(status, [None] * 3)
    hands.drain()
    queues.set_record_start("work", False)
    noted_only = queue.push(status)
    hands.drain()
    assert [queue.get(job).result for job in recorded] == ["progress"] * 3
    assert queue.get(noted_only).result == "pending"
    facts = Event.objects.filter(kind="queue.changed").values_list("facts__record_start", flat=True)
    assert list(facts.order_by("id")) == [True, False]


def test_a_manifest_may_ask_for_it(queue, probe, hands, monkeypatch):
    monkeypatch.setattr(slot_runner, "SHORT_SECONDS", 60.0)
    both = [queue.push({"mount": probe, "name": name}) for name in ("recorded", "status")]
    hands.drain()
    assert [queue.get(job).result for job in both] == ["progress", "pending"]


def test_nothing_begins_once_the_lease_may_be_over(
    queue, act, hands, tmp_path, executions, monkeypatch
):
    monkeypatch.setattr(slot_runner, "SHORT_SECONDS", 60.0)
    queue.push(act, {"file": str(tmp_path / "ran")})
    slot = replace(acquire(queue.name, 0, "stopped"), taken_at=float("-inf"))
    working = SlotRunner(slot, hands.workhorse, "stopped", lambda: None, lambda: False)
    batch = working.reserve(slot, 1)
    followed(working._run_batch(batch))
    assert (executions(), Run.objects.count()) == (0, 0)
    assert QueuedJob.objects.waiting().count() == 1


def test_every_door_sets_whether_starts_are_recorded(queue, admin_client, capsys):
    path, kind = "/api/v1/queues/work", "application/json"
    asked = admin_client.patch(path, {"record_start": True}, kind)
    assert (asked.status_code, asked.json()["record_start"]) == (200, True)
    call_command("queue", "create", "work", "--no-record-start")
    assert not Queue.objects.get(name="work").record_start
    call_command("queue", "create", "work", "--record-start")
    assert "starts are recorded first" in capsys.readouterr().out
    queues.delete("work")
    queues.create("work")
    assert not Queue.objects.get(name="work").record_start


@pytest.mark.parametrize("wrong", ["yes", 1, None])
def test_anything_but_yes_or_no_is_refused(queue, wrong):
    with pytest.raises(BadQueue, match="record_start must be true or false"):
        queues.set_record_start("work", wrong)
