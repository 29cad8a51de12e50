"""What the dashboard and `verify` say of this room."""

from datetime import timedelta

import pytest
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext

import queues
from atributo_site.core.models.clock import database_now
from queues.maintenance.invariants import INVARIANTS, too_many_running
from queues.models import QueuedJob, Slot
from queues.queries.snapshot import snapshot
from queues.runs.outcomes import record_start
from queues.runs.reservation import reserve
from queues.runs.slots import acquire


def test_the_snapshot_counts_what_runs_waits_and_failed(queue, act, hands):
    queue.push({"mount": "/nowhere", "name": "x"})
    hands.drain()
    queue.push_many(act, [None] * 3)
    acquire("work", 0, "somebody")
    found = snapshot(database_now())
    gauge = next(each for each in found["queues"] if each["name"] == "work")
    assert (gauge["running"], gauge["waiting"], found["failed"]) == (1, 3, 1)
    assert gauge["oldest_seconds"] is not None


def test_the_snapshot_needs_the_same_queries_for_any_number_of_queues(queue):
    now = database_now()
    with CaptureQueriesContext(connection) as few:
        snapshot(now)
    for number in range(10):
        queues.create(f"q{number}")
    with CaptureQueriesContext(connection) as many:
        snapshot(now)
    assert len(many) == len(few)


def test_delayed_jobs_are_next_and_not_late(queue, act):
    queue.push(act, delay=3_600_000)
    gauge = next(g for g in snapshot(database_now())["queues"] if g["name"] == "work")
    assert gauge["oldest_seconds"] is None
    assert gauge["next_due_at"] > database_now() + timedelta(minutes=50)


def test_healthy_rows_break_no_rule(queue, act, hands):
    queue.push_many(act, [None] * 5)
    hands.drain()
    assert [broken for _, _, find in INVARIANTS for broken in find()] == []


def test_a_forgotten_lease_is_told(queue, act):
    queue.push(act)
    slot = acquire("work", 0, "dead")
    past = database_now() - timedelta(minutes=1)
    QueuedJob.objects.update(status="progress", slot=slot.id, slot_epoch=slot.epoch - 1)
    Slot.objects.filter(pk=slot.id).update(leased_until=past)
    told = {name for name, _, find in INVARIANTS if find()}
    assert told == {"progress without lease", "expired slots", "held by another epoch"}


@pytest.fixture
def lowered(probe, act):
    """A queue of three that all run when its limit becomes one."""
    queue = queues.create("q", 3)
    queue.push_many(act, [None] * 3)
    for number in range(3):
        slot = acquire("q", number, "a")
        record_start(slot, reserve(slot, 1).jobs[0], "a", 0.0)
    queues.create("q", 1)


def test_what_ran_before_a_limit_was_lowered_breaks_no_rule(lowered):
    assert too_many_running() == []


def test_what_starts_above_a_lowered_limit_breaks_a_rule(lowered):
    QueuedJob.objects.update(started_at=F("started_at") + timedelta(minutes=1))
    assert too_many_running() == ["q: 3 of 1"]
