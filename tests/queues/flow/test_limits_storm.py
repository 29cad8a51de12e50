"""Limits under workers on their own: never exceeded at any sample, nothing lost or doubled."""

import random
from collections import Counter

import pytest

import queues
from queues.maintenance.invariants import over_a_limit
from queues.models import QueuedJob, Run

LIMITS = [{"per": "key", "at_once": 1}, {"per": "queue", "at_once": 3}]


@pytest.fixture
def crowd(probe, tmp_path):
    """crowd(jobs, keys) → a queue with limits in which so many jobs of so many keys wait."""

    def push(jobs, keys):
        queue = queues.create("crowd", max_workers=6)
        queues.set_limits("crowd", LIMITS)
        script = {"mount": probe, "name": "limited"}
        for number in range(jobs):
            order = {"folder": str(tmp_path), "key": f"k{number % keys}", "sleep": 0.01}
            queue.push(script, order, flow_key=order["key"])
        return queue

    return push


def held():
    rows = QueuedJob.objects.filter(slot__isnull=False, queue__name="crowd")
    return Counter(rows.values_list("flow_key", flat=True))


def is_over():
    """Look once; whatever is held at that moment is within the limits."""
    now = held()
    assert max(now.values(), default=0) <= 1 and sum(now.values()) <= 3, now
    assert over_a_limit() == []
    return not QueuedJob.objects.unfinished().exists()


def test_workers_never_exceed_a_limit(crowd, worker, wait_until, tmp_path):
    crowd(jobs=24, keys=4)
    for name in "ab":
        worker(name, "--concurrency", "3")
    wait_until(is_over, 120)
    assert not (tmp_path / "overlaps").exists()
    assert len((tmp_path / "ran").read_text().splitlines()) == 24
    assert Run.objects.exclude(outcome="complete").count() == 0


@pytest.mark.soak
def test_killed_workers_never_exceed_a_limit(crowd, worker, wait_until, sweep, expire_leases):
    crowd(jobs=1000, keys=20)
    chance, alive = random.Random(7), [worker(name, "--concurrency", "3") for name in "ab"]
    for number in range(20):
        left = QueuedJob.objects.unfinished().count()
        wait_until(lambda left=left: is_over() or QueuedJob.objects.unfinished().count() < left)
        victim = alive.pop(chance.randrange(len(alive)))
        victim.kill()
        victim.wait()
        expire_leases(victim)
        sweep()
        alive.append(worker(f"w{number}", "--concurrency", "3"))
    wait_until(lambda: (sweep(), is_over())[1], 600)
    assert set(QueuedJob.objects.values_list("status", flat=True)) == {"complete"}
