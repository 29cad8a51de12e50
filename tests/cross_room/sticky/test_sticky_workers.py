"""Real workers of instances, with Redis: started, stopped, killed, restarted in turn."""

import json
import signal

import pytest

import queues
from allocation.models import Instance, PastAllocation
from atributo_site.core.models import Event
from queues.models import QueuedJob
from tests.cross_room.rolling import Rolling, out_of_order, overlaps
from tests.queues.worker.standstill import nobody_is_asking


@pytest.fixture
def where(probe):
    return {"mount": probe, "name": "where"}


def test_a_push_rings_at_the_instance_of_its_key(queue, where, station_worker, wait_until):
    station_worker("a")
    job = queue.get(queue.push(where, sticky_key="k"))
    wait_until(lambda: job.status == "complete")
    assert job.result["instance"] == "a"


def test_two_workers_of_an_instance_run_a_key_in_order(
    probe, where, station_worker, wait_until, tmp_path
):
    queue = queues.create("work", max_workers=2)
    station_worker("a", name="one")
    station_worker("a", name="two")
    path = tmp_path / "lines"
    order = {"file": str(path), "sleep": 0.03}
    for number in range(24):
        queue.push(where, order, sticky_key=f"key-{number % 2}")
    wait_until(lambda: not QueuedJob.objects.unfinished().exists())
    ran = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(ran) == 24
    assert (overlaps(ran), out_of_order(ran)) == ([], [])


def test_a_clean_stop_finishes_the_run_and_leaves(
    queue, probe, station_worker, wait_until, tmp_path
):
    worker = station_worker("a")
    files = {"started": str(tmp_path / "started"), "go": str(tmp_path / "go")}
    job = queue.get(queue.push({"mount": probe, "name": "wait"}, files, sticky_key="k"))
    wait_until(lambda: job.status == "progress")
    worker.send_signal(signal.SIGTERM)
    wait_until(lambda: not Instance.objects.get().available)
    (tmp_path / "go").touch()
    assert worker.wait(60) == 0
    assert job.status == "complete"
    kinds = list(Event.objects.about("instance:a").values_list("kind", flat=True))
    assert kinds == ["instance.available", "station.served", "instance.unavailable", "station.left"]


def test_a_killed_instance_worker_leaves_its_jobs_to_their_policies(
    probe, where, station_worker, wait_until, run_repairs, away, expire_leases
):
    victim = station_worker("a")
    running = push_to("move", where, {"file": "/dev/null", "sleep": 600})
    wait_until(lambda: running.status == "progress")
    waiting, failing = push_to("wait", where), push_to("fail", where)
    QueuedJob.objects.update(data={"file": "/dev/null"})
    station_worker("b")
    victim.kill()
    wait_until(nobody_is_asking)
    assert expire_leases(victim) == 1
    away("a")
    ends = {running.id: "complete", waiting.id: "pending", failing.id: "failed"}
    wait_until(lambda: [run_repairs(), statuses() == ends][1])
    assert Instance.objects.get(pk="a").state == "dead"
    assert [past.job_id for past in PastAllocation.objects.all()] == ["key of move"]
    assert Event.objects.get(kind="run.lost").subject == f"job:{running.id}"
    assert Event.objects.get(kind="job.rerouted").facts["to"] == "b"
    assert Event.objects.get(kind="job.given_up").subject == f"job:{failing.id}"
    told = Event.objects.get(kind="station.away").facts["waiting"]
    assert told["wait"] == {"jobs": 1, "policy": "wait"}


def push_to(policy, script, data=None):
    """Push a job into a queue of its own with that policy."""
    queue = queues.create(policy)
    queues.catalogue.set_when_away(policy, policy, 1)
    return queue.get(queue.push(script, data, sticky_key=f"key of {policy}"))


def statuses():
    return {str(pk): status for pk, status in QueuedJob.objects.values_list("pk", "status")}


MOVES = {"wait": (0, set()), "move": (1, {"instance away"})}


def test_a_rolling_restart_loses_nothing(
    probe, where, station_worker, curator_process, wait_until, tmp_path
):
    curator_process()
    rolling = Rolling(where, station_worker, wait_until, tmp_path / "lines", "move", keys=12)
    rolling.restart_all(jobs_before_each=10)
    rolling.finish(60)
    assert (rolling.lost(), overlaps(rolling.lines()), rolling.broken) == ([], [], [])
    assert rolling.most_running <= 3
    assert (rolling.most_moves, rolling.why_moved()) == MOVES["move"]


@pytest.mark.soak
@pytest.mark.parametrize("policy", MOVES)
def test_many_rolling_restarts_lose_nothing(
    probe, where, station_worker, curator_process, wait_until, tmp_path, policy
):
    rolling = Rolling(where, station_worker, wait_until, tmp_path / "lines", policy, keys=100)
    curator_process()
    for _ in range(5):
        rolling.restart_all(jobs_before_each=150)
    rolling.finish(120)
    assert (rolling.lost(), overlaps(rolling.lines()), rolling.broken) == ([], [], [])
    assert rolling.most_running <= 3
    assert (rolling.most_moves, rolling.why_moved()) == MOVES[policy]
