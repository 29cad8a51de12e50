"""How many jobs a worker takes at once, and how many statements that costs."""

from datetime import UTC, datetime

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

import queues
from queues.runs.doorbell import Bell
from queues.runs.reservation import Batch
from queues.runs.slots import acquire
from queues.worker import slot_runner
from queues.worker.presence import WorkerPresence
from queues.worker.slot_runner import BatchProgress, SlotRunner
from queues.worker.worker import Worker


@pytest.fixture
def in_process(probe, redis_connection, monkeypatch):
    """A worker inside this process whose jobs are short, however busy the machine is."""
    monkeypatch.setattr(slot_runner, "SHORT_SECONDS", 600.0)
    worker = Worker("here", WorkerPresence("here", {}))
    worker.presence.take()
    yield worker
    worker.lanes.close()


def test_a_worker_takes_all_short_jobs_of_the_next_queue_at_once(in_process, act):
    """One statement takes the slot; then one each reserves, records, looks again and leaves."""
    for number in range(4):
        queues.create(f"q{number}").push_many(act, [None] * 5)
    for number in range(3):
        in_process.run_slot(Bell(f"q{number}", 0))
    with CaptureQueriesContext(connection) as seen:
        in_process.run_slot(Bell("q3", 0))
    assert queues.get("q3").pending() == []
    kinds = [query["sql"].split()[0] for query in seen.captured_queries]
    around = {"BEGIN", "COMMIT", "SAVEPOINT", "RELEASE"}
    most = {"postgresql": 6, "sqlite": 10}  # SQLite records and leaves in several
    assert len([kind for kind in kinds if kind not in around]) <= most[connection.vendor], kinds


def test_a_queue_begins_with_batches_of_its_own_size(in_process, act):
    for name in ("short", "long"):
        queues.create(name).push_many(act, [None] * 3)
    in_process.run_slot(Bell("short", 0))
    size = in_process.runners._sizes["short"]
    in_process.runners._last_size = 1
    queues.get("short").push_many(act, [None] * 3)
    assert size > 1
    workhorse = in_process.lanes.free().workhorse
    assert in_process.runners.take(workhorse, Bell("short", 0), "here").size == size


@pytest.mark.parametrize(
    ("begun", "seconds", "size"),
    [(60, 0.02, 54), (10, 0.02, 50), (100, 0.03, 60), (100, 0.015, 120), (100, 0.005, 200)],
)
def test_a_batch_is_as_large_as_what_fits_its_time(queue, begun, seconds, size):
    """What does not begin in that time would be reserved only to be given back."""
    runner = SlotRunner(acquire("work", 0, "w"), None, "w", bool, bool, size=100)
    now = datetime(2026, 1, 1, tzinfo=UTC)
    progress = BatchProgress(Batch([None] * 100, now, 1), 0.0, number=begun, begun=seconds)
    runner._adapt(progress)
    assert runner.size == size
