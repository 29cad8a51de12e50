"""Sticky jobs run where their key is allocated, and nowhere else."""

import pkgutil

import pytest
from django.db import connection, transaction

import queues
from allocation.atributo import Atributo
from allocation.instances import availability
from allocation.instances.holds import left_on
from allocation.models import Allocation, Instance
from allocation.placement import drains
from atributo_site.core.database import dialect
from atributo_site.core.leases import HeldLease
from atributo_site.core.models import Event
from atributo_site.core.models.clock import database_now
from queues.maintenance.repairs import Routes
from queues.models import QueuedJob, Run, Station
from queues.queries.presenters import wait_reason
from queues.sql import sticky


def route(job_id):
    return QueuedJob.objects.get(pk=job_id).routed_to


def said(job_id):
    job = QueuedJob.objects.select_related("queue").get(pk=job_id)
    return wait_reason(job, database_now())


def test_a_sticky_job_runs_at_the_instance_of_its_key(queue, act, serve):
    a, b = serve("a"), serve("b")
    ids = [queue.push(act, sticky_key=f"job{n}") for n in range(8)]
    places = Atributo().allocate_many([f"job{n}" for n in range(8)])
    assert [route(pk) for pk in ids] == [places[f"job{n}"].instance_id for n in range(8)]
    a.work()
    done = {pk for pk in ids if queue.get(pk).status == "complete"}
    assert done == {pk for pk in ids if route(pk) == "a"} != set()
    b.work()
    assert set(queue.complete()) == set(ids)


def test_no_worker_without_an_instance_takes_it(queue, act, serve, hands):
    serve("a")
    job = queue.push(act, sticky_key="k")
    hands.drain()
    assert queue.get(job).status == "pending"


def test_a_station_runs_what_anybody_may_run_in_the_order_of_all(probe, act, serve, tmp_path):
    queue = queues.create("work", max_workers=1)
    a = serve("a")
    order = {"file": str(tmp_path / "ran")}
    ids = [queue.push(act, order, sticky_key="k" if n % 2 else None) for n in range(6)]
    ids.insert(0, queue.push(act, order, priority=1))
    ids.insert(0, queue.push(act, order, priority=2, sticky_key="k"))
    a.work()
    ran = [line.split()[0] for line in (tmp_path / "ran").read_text().splitlines()]
    assert ran == ids


def test_without_an_instance_it_waits_and_says_so(queue, act, serve, run_repairs):
    job = queue.push(act, sticky_key="k")
    run_repairs()
    assert said(job) == "No instance is available for its key k."
    a = serve("a")
    run_repairs()
    assert said(job) == "A worker of a starts it when it is free."
    a.work()
    assert queue.get(job).status == "complete"


def test_a_push_that_rolls_back_allocates_nothing(queue, act, serve):
    serve("a")
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        queue.push(act, sticky_key="k")
        raise ZeroDivisionError
    assert not Allocation.objects.exists()


def test_a_script_knows_its_instance_and_epoch(queue, probe, serve):
    a = serve("a")
    job = queue.get(queue.push({"mount": probe, "name": "where"}, sticky_key="k"))
    a.work()
    epoch = Allocation.objects.get().epoch
    assert job.result == {"sticky_key": "k", "instance": "a", "epoch": epoch}


def test_a_key_that_moved_is_not_started_by_the_old_instance(
    queue, act, serve, run_repairs, wait_until
):
    a = serve("a")
    job = queue.push(act, sticky_key="k")
    b = serve("b")
    drains.drain("a", deadline_seconds=0)
    run_repairs()
    assert Allocation.objects.get().instance_id == "b"
    QueuedJob.objects.update(routed_to="a")  # as if the curator had not come to it yet
    a.work()
    assert queue.get(job).status == "pending"
    wait_until(lambda: [run_repairs(), route(job) == "b"][1])
    b.work()
    assert queue.get(job).status == "complete"


def test_a_key_never_runs_at_two_instances_at_once(probe, act, serve, run_repairs):
    queue = queues.create("work", max_workers=2)
    a = serve("a")
    first, second = (queue.push(act, sticky_key="k", concurrent=True) for _ in range(2))
    _, held = a.take()
    b = serve("b")
    drains.drain("a", deadline_seconds=0)
    run_repairs()
    assert [str(pk) for pk in held] == [first]
    assert (route(first), route(second)) == ("a", "b")
    b.work()
    assert queue.get(second).status == "pending"
    assert said(second) == "Another job with the same key is still running on a."


def test_removing_an_instance_sends_its_jobs_elsewhere(queue, act, serve, run_repairs):
    serve("a")
    job = queue.push(act, sticky_key="k")
    b = serve("b")
    availability.remove("a")
    run_repairs()
    assert route(job) == "b"
    event = Event.objects.get(kind="job.rerouted")
    assert (event.subject, event.facts["from"], event.facts["to"]) == (f"job:{job}", "a", "b")
    b.work()
    assert queue.get(job).status == "complete"


def test_jobs_of_an_instance_that_is_away_block_nobody(queue, act, serve, hands, away):
    serve("a")
    stuck = queue.push_many(act, [None] * 30, sticky_key="k")
    away("a")
    Instance.objects.filter(pk="a").update(available=False)
    b = serve("b")
    shared, own = queue.push(act), queue.push(act, sticky_key="other")
    assert {route(pk) for pk in stuck} == {"a"}
    assert route(own) == "b"
    hands.drain()
    b.work()
    assert queue.complete() == [shared, own]
    assert queue.pending() == stuck


POLICIES = {
    "wait": ("pending", "a", []),
    "move": ("pending", "b", ["job.rerouted"]),
    "fail": ("failed", "a", ["job.given_up"]),
}


@pytest.mark.parametrize("policy", POLICIES)
def test_jobs_of_an_absent_instance_follow_their_queue(
    queue, act, serve, run_repairs, away, policy
):
    queues.catalogue.set_when_away("work", policy, 30)
    serve("a")
    job = queue.push(act, sticky_key="k")
    QueuedJob.objects.update(due_at="2020-01-01T00:00:00Z")
    serve("b")
    away("a")
    run_repairs()
    status, instance_id, kinds = POLICIES[policy]
    assert (queue.get(job).status, route(job)) == (status, instance_id)
    assert list(Event.objects.about(f"job:{job}").values_list("kind", flat=True)) == kinds
    told = Event.objects.get(kind="station.away")
    assert told.facts["waiting"] == {"work": {"jobs": 1, "policy": policy}}


def test_a_key_of_an_absent_instance_moves_to_where_its_labels_are(
    queue, act, serve, run_repairs, away
):
    queues.catalogue.set_when_away("work", "move", 30)
    for name, zone in [("a", "north"), ("b", "south"), ("c", "north")]:
        serve(name)
        availability.configure(name, labels={"zone": zone})
    first = Atributo().allocate("k", labels={"zone": "north"}).instance_id
    job = queue.push(act, sticky_key="k")
    QueuedJob.objects.update(due_at="2020-01-01T00:00:00Z")
    away(first)
    run_repairs()
    assert {first, route(job)} == {"a", "c"}


@pytest.mark.parametrize(
    ("policy", "step"),
    [
        ("move", "queues.maintenance.absence.plan"),
        ("fail", "queues.maintenance.absence.outcome_row"),
    ],
)
def test_an_instance_that_comes_back_meanwhile_keeps_its_jobs(
    queue, act, serve, run_repairs, away, policy, step, monkeypatch
):
    queues.catalogue.set_when_away("work", policy, 0)
    a = serve("a")
    job = queue.push(act, sticky_key="k")
    serve("b")
    away("a")
    decide = pkgutil.resolve_name(step)
    monkeypatch.setattr(step, lambda *given: [a.open(), decide(*given)][1])
    run_repairs()
    assert (queue.get(job).status, route(job)) == ("pending", "a")
    assert Allocation.objects.get(pk="k").instance_id == "a"


@pytest.mark.parametrize(("took", "later", "looks"), [(0.1, 1.9, 1), (0.1, 2.1, 2), (60, 11, 2)])
def test_routes_are_looked_at_rarer_if_that_takes_long_but_never_rarely(queue, took, later, looks):
    looked, clock = [], iter([0, took, took + later, took + later])
    routes = Routes(lambda lease: looked.append(lease) or 0, lambda: next(clock))
    lease = HeldLease.take("curator", "test", 60)
    for _ in range(2):
        routes.mend(database_now(), lease)
    assert len(looked) == looks


def test_nothing_moves_within_the_grace(queue, act, serve, run_repairs, away):
    queues.catalogue.set_when_away("work", "move", 3600)
    serve("a")
    job = queue.push(act, sticky_key="k")
    serve("b")
    away("a", seconds=30)
    run_repairs()
    assert route(job) == "a"
    assert "moves to another instance" in said(job)


def test_a_job_that_is_given_up_calls_its_failure_callback(
    queue, act, probe, serve, run_repairs, away
):
    queues.catalogue.set_when_away("work", "fail", 0)
    serve("a")
    called = {"mount": probe, "name": "called"}
    job = queue.push(act, sticky_key="k", max_failures=5, failure=called, repeat_times=1)
    away("a")
    run_repairs()
    row = QueuedJob.objects.get(pk=job)
    assert (row.status, row.runs, row.attempt) == ("pending", 1, 1)
    assert Run.objects.get().error == "no worker serves its instance a"
    assert QueuedJob.objects.get(parent=job).sticky_key is None


def test_a_worker_that_stops_makes_its_instance_unavailable(queue, serve):
    a = serve("a")
    a.keep(stopping=True)
    assert Instance.objects.get().state == "unavailable"
    a.leave()
    assert not Station.objects.served().exists()
    kinds = Event.objects.about("instance:a").values_list("kind", flat=True)
    assert list(kinds)[-2:] == ["instance.unavailable", "station.left"]


def test_an_instance_stays_available_until_its_last_worker_leaves(queue, serve):
    first, second = serve("a", "one"), serve("a", "two")
    first.keep(stopping=True)
    first.leave()
    assert Instance.objects.get().available
    second.leave()
    assert not Instance.objects.get().available


def test_a_person_who_drains_outranks_the_worker(queue, serve):
    a = serve("a")
    drains.drain("a")
    a._due = 0
    a.keep(stopping=False)
    assert Instance.objects.get().state == "draining"
    assert not a.takes_shared


def test_a_worker_taken_for_dead_brings_its_instance_back(queue, serve, run_repairs, away):
    a = serve("a")
    away("a")
    run_repairs()
    assert Instance.objects.get().state == "dead"
    a._due = 0
    a.keep(stopping=False)
    assert Instance.objects.get().state == "available"


def test_a_drain_waits_for_the_running_job(queue, act, serve, run_repairs):
    a = serve("a")
    serve("b")
    a.begin()
    drains.drain("a", deadline_seconds=0)
    run_repairs()
    left = left_on("a")
    assert (left.keys, left.running_jobs, left.open_claims) == (0, 1, 0)
    assert Instance.objects.get(pk="a").state == "draining"
    a.end()
    run_repairs()
    assert Instance.objects.get(pk="a").state == "drained"


def test_a_draining_instance_takes_only_jobs_of_its_keys(queue, act, serve):
    a = serve("a")
    own = queue.push(act, sticky_key="k")
    drains.drain("a")
    shared = queue.push(act)
    a.begin()
    a.work()
    assert (queue.complete(), queue.pending()) == ([own], [shared])


@pytest.mark.only_on("sqlite")
def test_sqlite_finds_the_jobs_of_a_station_by_index(queue, act, serve):
    with connection.cursor() as cursor:
        statement = sticky.probe(dialect(), 0, "LIMIT 1", "'a'", "1")
        cursor.execute(f"EXPLAIN QUERY PLAN {statement}")
        plan = " ".join(row[3] for row in cursor.fetchall())
    assert "job_waiting_routed (routed_to=? AND queue_id=? AND rank=? AND due_at<?)" in plan
    assert "job_by_sticky_key (sticky_key=? AND slot_id>?)" in plan
    assert "SCAN" not in plan and "TEMP B-TREE" not in plan


@pytest.mark.only_on("postgresql")
def test_postgresql_finds_the_jobs_of_a_station_by_index(queue, act, serve):
    serve("a")
    queue.push_many(act, [None] * 3000, sticky_key="k")
    serve("b")
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE queues_queuedjob")
        queue_id = str(QueuedJob.objects.first().queue_id)
        statement = sticky.probe(dialect(), 0, "LIMIT 1", "'b'", queue_id)
        cursor.execute(f"EXPLAIN {statement}")
        plan = " ".join(row[0] for row in cursor.fetchall())
    assert "job_waiting_routed" in plan
    assert "Seq Scan on queues_queuedjob" not in plan
