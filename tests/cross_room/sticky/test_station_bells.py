"""Bells of sticky jobs: leaving a slot or resuming a queue rings for stations, too."""

import pytest

import queues
from queues.models import QueuedJob
from queues.runs.doorbell import Bell, channel_of
from queues.runs.doorbell import connection as redis_of
from queues.runs.slots import acquire
from queues.worker.bells import BellListener
from queues.worker.presence import WorkerPresence
from queues.worker.worker import Worker

HERE = f"rq:queue:{channel_of('a', first=True)}"


@pytest.fixture
def plain_worker(probe, redis_connection):
    worker = Worker("plain", WorkerPresence("plain", {}))
    worker.presence.take()
    yield worker
    worker.lanes.close()


def test_a_worker_that_leaves_a_slot_calls_the_station(
    queue, act, serve, plain_worker, redis_connection
):
    serve("a")
    slot = acquire("work", 0, "somebody")
    queue.push(act, sticky_key="k")
    assert redis_connection.llen(HERE) == 0
    slot.release()
    plain_worker.run_slot(Bell("work", 0))
    assert redis_connection.llen(HERE) == 1


def test_a_queue_that_goes_on_calls_the_station(queue, act, serve, redis_connection):
    serve("a")
    queues.pause("work")
    queue.push(act, sticky_key="k")
    assert redis_connection.llen(HERE) == 0
    queues.resume("work")
    assert redis_connection.llen(HERE) == 1


def test_an_instance_that_takes_no_shared_jobs_calls_back_for_its_own(
    queue, probe, act, serve, hands, tmp_path
):
    post = serve("a")
    data = {"calls": str(tmp_path / "calls")}
    queue.push(act, data, sticky_key="k", success={"mount": probe, "name": "called"})
    other = queue.push(act)
    post.takes_shared = False
    hands.pump_at(post, "work", 0)
    assert QueuedJob.objects.exclude(parent=None).get().status == "complete"
    assert queue.pending() == [other]


def test_an_instance_that_takes_no_shared_jobs_leaves_their_bells(queue, act, redis_connection):
    queue.push(act)
    ear = BellListener(redis_of(2.0), "a", lambda _: None)
    assert ear.urgent(0, shared=False) is None
    assert redis_connection.llen(f"rq:queue:{channel_of('', first=True)}") == 1
