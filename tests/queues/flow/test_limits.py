"""Limits hold for what starts, and for what already waits; nothing else waits for them."""

from datetime import timedelta

import pytest
from django.db.models.functions import Now

import queues
from queues.errors import BadPush, BadQueue
from queues.jobs import actions
from queues.logic.manifest import read
from queues.models import Catalogue, Flow, Gate, QueuedJob, Rate, Script
from queues.runs.reservation import reserve
from queues.runs.slots import acquire

MINUTE_MS = 60_000


@pytest.fixture
def wide(probe):
    return queues.create("wide", max_workers=20)


@pytest.fixture
def take(wide):
    """take(n) → the ids that the next free slot gets, of at most n jobs."""
    numbers = iter(range(20))

    def reserved(count=1):
        batch = reserve(acquire("wide", next(numbers), "hands"), count)
        return [] if batch is None else [str(job.id) for job in batch.jobs]

    return reserved


def key_limit(n):
    return [{"per": "key", "at_once": n}]


def test_so_many_of_a_key_are_held_at_once(wide, act, take):
    queues.set_limits("wide", key_limit(2))
    ids = [wide.push(act, n, flow_key="a") for n in range(3)]
    other = wide.push(act, flow_key="b")
    assert sorted(take(10)) == sorted([*ids[:2], other])
    assert take(10) == []


def test_an_end_lets_the_next_one_start(wide, act, hands):
    queues.set_limits("wide", key_limit(1))
    ids = [wide.push(act, n, flow_key="a") for n in range(5)]
    hands.drain()
    assert {wide.get(each).status for each in ids} == {"complete"}


def test_limits_hold_together(wide, act, take):
    queues.set_limits("wide", [*key_limit(1), {"per": "queue", "at_once": 3}])
    for key in "abcde":
        wide.push_many(act, [1, 2], flow_key=key)
    assert len(take(10)) == 3
    assert take(10) == []
    assert Gate.objects.get(queue__name="wide").waits_for == "3 at once per queue"


def test_a_limit_holds_for_what_already_waits(wide, act, take):
    wide.push_many(act, list(range(5)))
    queues.set_limits("wide", [{"per": "queue", "at_once": 2}])
    assert len(take(10)) == 2
    assert take(10) == []
    queues.set_limits("wide", [{"per": "queue", "at_once": 3}])
    assert len(take(10)) == 1
    queues.set_limits("wide", None)
    assert len(take(10)) == 2


def test_what_ran_before_the_limit_counts(wide, act, take):
    wide.push_many(act, list(range(5)))
    assert len(take(2)) == 2
    queues.set_limits("wide", [{"per": "queue", "at_once": 3}])
    assert [len(take(10)) for _ in range(2)] == [1, 0]


def test_a_slot_from_before_the_limit_starts_nothing_beside_it(wide, act):
    slot = acquire("wide", 0, "hands")
    wide.push_many(act, list(range(5)))
    queues.set_limits("wide", [{"per": "queue", "at_once": 1}])
    assert reserve(slot, 10) is None


def test_a_limit_of_a_script_counts_in_all_queues(wide, act, take):
    Script.objects.filter(name="act").update(limits=[{"per": "script", "at_once": 2}])
    Catalogue.objects.changed()
    other = queues.create("other", max_workers=1)
    other.push_many(act, [1, 2])
    wide.push_many(act, [1, 2, 3])
    assert len(reserve(acquire("other", 0, "hands"), 1).jobs) == 1
    assert [len(take(10)) for _ in range(2)] == [1, 0]


def test_a_manifest_names_its_bad_limit():
    script = {"path": "a.py", "limits": [{"per": "key", "rate": "0/s"}]}
    manifest, errors = read({"name": "a", "version": "1.0.0", "scripts": {"a": script}})
    assert manifest is None and "script a: a rate allows from 1" in errors[0]


def test_a_script_with_a_limit_keeps_no_other_script_waiting(wide, act, probe, take):
    queues.set_limits("wide", [{"per": "script", "at_once": 1}])
    wide.push_many(act, [1, 2, 3])
    called = wide.push({"mount": probe, "name": "called"})
    assert len(take(10)) == 2
    assert wide.get(called).status == "pending"
    assert QueuedJob.objects.filter(slot__isnull=False, script="called").count() == 1


def test_an_instance_counts_by_itself(wide, act, take, monkeypatch):
    queues.set_limits("wide", [{"per": "instance", "at_once": 1}])
    wide.push_many(act, [1, 2, 3])
    assert len(take(10)) == 1
    assert take(10) == []
    monkeypatch.setattr("queues.runs.reservation.host", lambda: "another host")
    assert len(take(10)) == 1


def test_a_push_has_limits_of_its_own(wide, act, take):
    for _ in range(3):
        wide.push(act, flow_key="a", limits=key_limit(1))
    assert (len(take(10)), take(10)) == (1, [])


def test_a_rate_starts_one_after_its_burst(wide, act, take):
    queues.set_limits("wide", [{"per": "key", "rate": "1/h", "burst": 2}])
    wide.push_many(act, [1, 2, 3], flow_key="a")
    assert [len(take(10)) for _ in range(3)] == [1, 1, 0]
    rate = Rate.objects.get()
    Rate.objects.update(full_at=rate.full_at - 3_600_000_000)
    queues.set_limits("wide", [{"per": "key", "rate": "1/h", "burst": 2}, *key_limit(9)])
    assert [len(take(10)) for _ in range(2)] == [1, 0]


def test_a_rate_of_the_queue_closes_its_gate_until_then(wide, act, take):
    queues.set_limits("wide", [{"per": "queue", "rate": "1/h"}])
    wide.push_many(act, [1, 2], flow_key="a")
    assert (len(take(10)), take(10)) == (1, [])
    gate = Gate.objects.get(queue__name="wide")
    assert gate.wake_at is not None and gate.is_whole


def test_a_delayed_job_that_is_run_now_starts(wide, act, take):
    queues.set_limits("wide", key_limit(1))
    job = wide.push(act, flow_key="a", delay=MINUTE_MS)
    assert take(10) == []
    actions.run_now(int(job))
    assert take(10) == [job]


def test_a_moment_that_was_waited_for_wakes_the_flow(wide, act, take):
    queues.set_limits("wide", key_limit(1))
    job = wide.push(act, flow_key="a", delay=MINUTE_MS)
    QueuedJob.objects.update(due_at=Now() - timedelta(seconds=1))
    Flow.objects.update(wake_at=Now() - timedelta(seconds=1))
    assert take(10) == [job]


@pytest.mark.parametrize(
    ("limit", "why"),
    [
        ({"per": "key", "rate": "0/min"}, "from 1 to"),
        ({"per": "key", "rate": "many"}, "such as 100/min"),
        ({"per": "key", "at_once": 0}, "at_once must be"),
        ({"per": "planet", "at_once": 1}, "must be one of key, queue, script, instance"),
        ({"per": "key"}, "either at_once or a rate"),
        ({"per": "key", "at_once": 1, "burst": 2}, "burst belongs to a rate"),
        ({"per": "key", "at_once": 1, "x": 2}, "not x"),
        ("key", "a limit is an object"),
    ],
)
def test_a_bad_limit_is_refused_with_a_sentence(wide, act, limit, why):
    with pytest.raises(BadQueue, match=why):
        queues.set_limits("wide", [limit])
    with pytest.raises(BadPush, match=why):
        wide.push(act, flow_key="a", limits=[limit])
    assert (wide.all(), Gate.objects.count()) == ([], 0)


def test_a_limit_per_key_needs_a_key(wide, act):
    with pytest.raises(BadPush, match="a limit per key needs a flow_key"):
        wide.push(act, limits=key_limit(1))
    assert wide.all() == []


def test_an_aborted_job_leaves_its_place(wide, act, take):
    queues.set_limits("wide", key_limit(1))
    first, second = (wide.push(act, flow_key="a") for _ in range(2))
    wide.get(first).abort()
    assert take(10) == [second]
