"""One job of a sticky key runs at a time, in the order of push."""

import pytest
from django.db import IntegrityError, connection

import queues
from allocation.placement import drains
from atributo_site.core.database import dialect
from atributo_site.core.models.clock import database_now
from queues.maintenance.repairs import Turns
from queues.models import QueuedJob
from queues.queries.presenters import wait_reason
from queues.runs.slots import acquire
from queues.runs.stations import reserve_at
from queues.sql import turns as sql


@pytest.fixture
def queue(probe):
    return queues.create("work", max_workers=3)


@pytest.fixture
def reserve(serve):
    """reserve() → the jobs that a further slot of the queue gets at the station a."""
    serve("a")
    numbers = {}

    def further(name="work", count=10):
        numbers[name] = numbers.get(name, -1) + 1
        batch = reserve_at("a", acquire(name, numbers[name], "a"), count, shared=True)
        return [str(job.id) for job in batch.jobs] if batch else []

    return further


def test_two_slots_never_hold_jobs_of_one_key(queue, act, reserve):
    ids = queue.push_many(act, [None] * 4, sticky_key="k")
    other = queue.push(act, sticky_key="other")
    assert reserve() == [ids[0], other]
    assert reserve() == []


def test_jobs_of_one_key_run_in_the_order_of_push(queue, act, serve, tmp_path):
    a = serve("a")
    order = {"file": str(tmp_path / "ran")}
    ids = [queue.push(act, order, sticky_key="k") for _ in range(3)]
    ids += queue.push_many(act, [order] * 4, sticky_key="k")
    a.work()
    ran = [line.split()[0] for line in (tmp_path / "ran").read_text().splitlines()]
    assert ran == ids


def test_a_concurrent_job_neither_waits_nor_keeps_others_waiting(queue, act, reserve):
    serial = queue.push_many(act, [None] * 2, sticky_key="k")
    beside = queue.push_many(act, [None] * 2, sticky_key="k", concurrent=True)
    assert reserve() == [serial[0], *beside]
    assert reserve() == []


def test_a_key_is_serial_across_queues(queue, act, reserve):
    first = queue.push(act, sticky_key="k")
    second = queues.create("other").push(act, sticky_key="k")
    assert (reserve(), reserve("other")) == ([first], [])
    row = QueuedJob.objects.select_related("queue").get(pk=second)
    assert (
        wait_reason(row, database_now()) == "Another job with the same key is still running on a."
    )


def test_the_next_job_waits_for_the_retry_of_the_one_before(queue, act, serve, tmp_path, pass_time):
    a = serve("a")
    order = {"file": str(tmp_path / "ran"), "fail_first": 1}
    first = queue.push(act, order, sticky_key="k", max_failures=1, back_off=3_600_000)
    second = queue.push(act, sticky_key="k")
    a.work()
    assert queue.pending() == [second, first]
    row = QueuedJob.objects.select_related("queue").get(pk=second)
    assert wait_reason(row, database_now()) == f"Job {first} with the same key runs first."
    pass_time()
    a.work()
    assert set(queue.complete()) == {first, second}


def test_a_job_that_is_not_due_keeps_nobody_waiting(queue, act, reserve):
    late = queue.push(act, sticky_key="k", delay=3_600_000)
    now = queue.push(act, sticky_key="k")
    later = queue.push(act, sticky_key="k", delay=7_200_000)
    assert reserve() == [now]
    assert set(queue.pending()) == {late, now, later}


def test_a_repeating_job_gives_the_others_their_turn(queue, act, serve, tmp_path):
    a = serve("a")
    order = {"file": str(tmp_path / "ran")}
    again = queue.push(act, order, sticky_key="k", repeat_times=-1, repeat_delay=3_600_000)
    once = queue.push(act, order, sticky_key="k")
    a.work()
    assert (queue.complete(), queue.pending()) == ([once], [again])


def test_a_priority_goes_first_unless_a_run_is_under_way(queue, act, reserve):
    queue.push(act, sticky_key="k")
    urgent = queue.push(act, sticky_key="k", priority=2)
    assert reserve() == [urgent]
    queue.push(act, sticky_key="k", priority=2)
    assert reserve() == []


def test_a_lost_run_keeps_its_turn(queue, act, reserve, run_repairs, expire_leases):
    first, _ = queue.push_many(act, [None] * 2, sticky_key="k")
    assert reserve() == [first]
    QueuedJob.objects.filter(pk=first).update(status="progress", attempt=1)
    expire_leases()
    run_repairs()
    assert QueuedJob.objects.get(pk=first).lost == 1
    assert reserve() == [first]


def test_a_key_that_moves_keeps_its_order(queue, act, serve, run_repairs, wait_until, tmp_path):
    serve("a")
    order = {"file": str(tmp_path / "ran")}
    ids = queue.push_many(act, [order] * 5, sticky_key="k")
    b = serve("b")
    drains.drain("a", deadline_seconds=0)
    routes = QueuedJob.objects.values_list("routed_to", flat=True)
    wait_until(lambda: [run_repairs(), set(routes.all()) == {"b"}][1])
    b.work()
    ran = [line.split()[0] for line in (tmp_path / "ran").read_text().splitlines()]
    assert ran == ids


@pytest.mark.parametrize("end", ["abort", "delete", "pause"])
def test_whoever_takes_the_first_away_passes_the_turn_on(queue, act, reserve, end):
    first = queue.push(act, sticky_key="k", repeat_times=3)
    second = queue.push(act, sticky_key="k")
    {
        "abort": lambda: queue.get(first).abort(),
        "delete": lambda: queue.delete(first),
        "pause": lambda: queue.get(first).pause(),
    }[end]()
    assert reserve() == [second]


def test_a_job_that_is_reset_gets_in_line(queue, act, reserve):
    first, second = queue.push_many(act, [None] * 2, sticky_key="k")
    queue.get(first).abort()
    queue.get(first).reset()
    assert reserve() == [second]


def test_a_paused_schedule_gets_in_line_when_it_is_resumed(queue, act, reserve):
    schedule = queue.push(act, sticky_key="k", repeat_times=3)
    queue.get(schedule).pause()
    second = queue.push(act, sticky_key="k")
    assert reserve() == [second]
    queue.get(schedule).resume()
    assert reserve() == []
    assert QueuedJob.objects.get(pk=schedule).rank == 30


def test_the_database_refuses_a_second_turn(queue, act, serve):
    serve("a")
    _, second = queue.push_many(act, [None] * 2, sticky_key="k")
    with pytest.raises(IntegrityError):
        QueuedJob.objects.filter(pk=second).update(rank=10)


def test_the_curator_gives_a_turn_that_nobody_passed_on(queue, act, reserve):
    keys = [f"k{n}" for n in range(5)]
    ids = [queue.push_many(act, [None] * 2, sticky_key=key)[0] for key in keys]
    QueuedJob.objects.filter(pk__in=ids).update(rank=30)  # as if their pusher had died
    turns = Turns(most=2, monotonic=lambda: 0.0)
    assert [turns.mend(None, None) for _ in range(4)] == [2, 2, 1, 0]
    assert reserve() == ids


def plan_of(statement, values):
    """Return how the database reads the jobs, by the statistics of now."""
    explain = "EXPLAIN QUERY PLAN" if connection.vendor == "sqlite" else "EXPLAIN"
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE queues_queuedjob")
        cursor.execute(f"{explain} {statement}", values)
        return "\n".join(str(row[-1]) for row in cursor.fetchall())


@pytest.mark.parametrize("step", ["give", "take", "without_turn"])
def test_a_long_line_is_never_read(queue, act, serve, step):
    serve("a")
    queue.push_many(act, [None] * 3000, sticky_key="k")
    queue.push_many(act, [None] * 3000)
    queue_id = QueuedJob.objects.first().queue_id
    keys = ["k"] if connection.vendor == "postgresql" else '["k"]'
    values = {"queue_id": queue_id, "keys": keys, "key": "", "limit": 10}
    plan = plan_of(getattr(sql, step)(dialect()), values)
    assert "job_waiting_by_key" in plan
    for whole in ("SCAN j", "SCAN h", "SCAN queues_queuedjob", "Seq Scan on queues_queuedjob"):
        assert whole not in plan


def test_a_paused_schedule_is_no_line_without_turn(queue, act, serve):
    serve("a")
    queue.get(queue.push(act, sticky_key="k", repeat_times=3)).pause()
    assert Turns(monotonic=lambda: 0.0).mend(None, None) == 0
