"""Kill, stop, flush, end: nothing is lost, nothing recorded twice, the limit is kept."""

import os
import random

import pytest

import queues
from allocation.models import Lease
from tests.queues.storm import Storm, broken_promises

LIMIT = 2


@pytest.fixture
def storm(probe, act, spawn, process_environment, redis_connection, wait_until):
    names = ("ATRIBUTO_WORKER_LEASE_MS", "ATRIBUTO_WORKER_HEARTBEAT_MS", "ATRIBUTO_SERVICE_ROOTS")
    env = {name: os.environ[name] for name in names}
    quick = {
        "ATRIBUTO_CURATOR_HEARTBEAT_TIMEOUT_MS": "1500",
        "ATRIBUTO_CURATOR_INACTIVITY_DELAY_MS": "300",
    }

    def worker(name):
        process = spawn("worker", "--name", name, env=env)
        wait_until(Lease.objects.held().filter(role=f"worker/{name}").exists, 30)
        return process

    def curator():
        return spawn("run_curator", env={**env, **quick})

    queue = queues.create("storm", LIMIT)
    seed = int(os.environ.get("STORM_SEED", random.randrange(10**6)))
    print(f"STORM_SEED={seed}")
    return Storm(queue, act, worker, curator, redis_connection, LIMIT, seed)


def test_a_short_storm_breaks_no_promise(storm):
    storm.rage(seconds=6, faults=6)
    storm.calm(90)
    assert broken_promises(storm, LIMIT) == []
    assert len(storm.queue.complete()) + len(storm.queue.failed()) == len(storm.story.pushed)


@pytest.mark.soak
def test_a_long_storm_breaks_no_promise(storm):
    """STORM_SECONDS and STORM_FAULTS set its length."""
    seconds = float(os.environ.get("STORM_SECONDS", "120"))
    faults = int(os.environ.get("STORM_FAULTS", "200"))
    storm.rage(seconds, faults)
    storm.calm(300)
    assert broken_promises(storm, LIMIT) == []
    assert storm.story.faults == faults
