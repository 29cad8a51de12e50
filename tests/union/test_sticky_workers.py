"""Real workers of instances, with Redis: started, stopped, killed, restarted in turn."""

import signal

import pytest

import queues
from allocation.models import Event, Instance, PastAllocation
from queues.models import QueuedJob
from tests.union.rolling import Rolling, overlaps


@pytest.fixture
def where(probe):
    return {"mount": probe, "name": "where"}


def test_a_push_rings_at_the_instance_of_its_key(queue, where, station_worker, wait_until):
    station_worker("a")
    job = queue.get(queue.push(where, sticky_key="k"))
    wait_until(lambda: job.status == "complete", 20)
    assert job.result["instance"] == "a"


def test_a_clean_stop_finishes_the_run_and_leaves(queue, where, station_worker, wait_until):
    worker = station_worker("a")
    job = queue.get(queue.push(where, {"file": "/dev/null", "sleep": 1}, sticky_key="k"))
    wait_until(lambda: job.status == "progress", 20)
    worker.send_signal(signal.SIGTERM)
    wait_until(lambda: not Instance.objects.get().available, 20)
    assert worker.wait(20) == 0
    assert job.status == "complete"
    kinds = list(Event.objects.about("instance:a").values_list("kind", flat=True))
    assert kinds == ["instance.available", "station.served", "instance.unavailable", "station.left"]


KILLED = {
    "wait": ("pending", "a", 0),
    "move": ("complete", "b", 1),
    "fail": ("failed", "a", 0),
}


@pytest.mark.parametrize("policy", KILLED)
def test_a_killed_instance_worker_leaves_its_jobs_to_the_policy(
    queue, where, station_worker, wait_until, curate, policy
):
    queues.catalogue.set_when_away("work", policy, 1)
    victim = station_worker("a")
    job = queue.get(queue.push(where, {"file": "/dev/null", "sleep": 600}, sticky_key="k"))
    wait_until(lambda: job.status == "progress", 20)
    QueuedJob.objects.update(data={"file": "/dev/null"})
    station_worker("b")
    victim.send_signal(signal.SIGKILL)
    status, instance_id, moves = KILLED[policy]

    def settled():
        curate()
        row = QueuedJob.objects.get()
        is_dead = Instance.objects.get(pk="a").state == "dead"
        return is_dead and (row.status, row.routed_to) == (status, instance_id)

    wait_until(settled, 30)
    assert PastAllocation.objects.count() == moves
    assert Event.objects.filter(kind="run.lost").count() == 1


MOVES = {"wait": (0, set()), "move": (1, {"instance away"})}


@pytest.mark.parametrize("policy", MOVES)
def test_a_rolling_restart_loses_nothing(
    probe, where, station_worker, curator_process, wait_until, tmp_path, policy
):
    rolling = Rolling(where, station_worker, wait_until, tmp_path / "lines", policy, keys=12)
    curator_process()
    rolling.restart_all(jobs_before_each=24)
    rolling.finish(60)
    assert (rolling.lost(), overlaps(rolling.lines()), rolling.broken) == ([], [], [])
    assert rolling.most_running <= 3
    assert (rolling.most_moves, rolling.why_moved()) == MOVES[policy]


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
