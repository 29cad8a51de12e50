"""Drains, rebalances and removals of very many jobs go in short pieces; others act between."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from itertools import count

import pytest
from django.db import connection
from django.db.transaction import atomic
from django.test.utils import CaptureQueriesContext

from allocation.atributo import Atributo
from allocation.instances import availability
from allocation.logic.drain import Move, plan, replan
from allocation.models import Allocation, PastAllocation
from allocation.placement import drains, operations, rebalance
from allocation.placement.moves import move_jobs
from allocation.repairs import MoveDrainsOn, move_rebalance_on
from allocation.storage.base import bucket
from allocation.storage.postgresql import PostgresStore
from allocation.storage.postgresql_sql import PARTS
from atributo_site.core.leases import HeldLease
from atributo_site.core.models.clock import database_now
from tests.allocation.placement.concurrency import broken, is_waiting, threads

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def ao(db):
    """Sixty jobs on "old"; "new1" and "new2" came later."""
    made = Atributo()
    made.available("old")
    made.allocate_many(f"job{n:02}" for n in range(60))
    made.available("new1")
    made.available("new2")
    return made


@contextmanager
def statements():
    """Collect what is executed; the hot statements of SQLite go past Django."""
    executed = []
    if connection.vendor == "sqlite":
        connection.connection.set_trace_callback(executed.append)
        yield executed
        connection.connection.set_trace_callback(None)
        return
    with CaptureQueriesContext(connection) as captured:
        yield executed
    executed.extend(query["sql"] for query in captured.captured_queries)


def moved_by(first, last):
    moves = [Move(f"job{n:02}", "old", f"new{n % 2 + 1}") for n in range(first, last)]
    with statements() as executed:
        assert move_jobs(moves, "drain") == last - first
    return [each for each in executed if "PREPARE" not in each]


def allocate_beside(job_id):
    """Allocate in another thread and wait for it."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(threads, 1, lambda _: Atributo().allocate(job_id)).result()[0]


@pytest.mark.parametrize("capacity", [None, 100])
def test_many_moves_take_no_more_statements_than_a_few(ao, capacity):
    availability.configure("new2", capacity=capacity)
    move_jobs([Move("job00", "old", "new1")], "drain")
    assert len(moved_by(1, 3)) == len(moved_by(3, 60))
    assert broken() == {}


def test_a_move_keeps_the_placement_before_as_it_was(ao):
    before = Allocation.objects.get(pk="job07")
    move_jobs([Move("job07", "old", "new1")], "drain")
    past, now = PastAllocation.objects.get(), Allocation.objects.get(pk="job07")
    names = ("job_id", "instance_id", "epoch", "allocated_at", "strategy", "candidates", "score")
    assert [getattr(past, name) for name in names] == [getattr(before, name) for name in names]
    assert (past.end_reason, past.ended_at) == ("drain to new1", now.allocated_at)
    assert now.epoch > before.epoch and now.allocated_at >= before.allocated_at


def test_only_jobs_that_are_still_on_their_source_move(ao):
    moves = [Move("job00", "old", "new1"), Move("job01", "new2", "new1"), Move("no", "old", "new1")]
    assert (move_jobs(moves, "drain"), ao.jobs("new1")) == (1, ["job00"])
    assert broken() == {}


def test_nobody_waits_while_a_drain_is_planned(ao, monkeypatch):
    def planned_meanwhile(placed, choose):
        assert allocate_beside("beside").persisted
        return plan(placed, choose)

    drains.drain("old", deadline_seconds=0)
    monkeypatch.setattr(drains, "plan", planned_meanwhile)
    visit, lease = MoveDrainsOn(), HeldLease.take("curator", "test", 3600)
    assert visit(database_now(), lease) == 60


def test_nobody_waits_while_a_rebalance_is_planned(ao, monkeypatch):
    def planned_meanwhile(*arguments):
        assert allocate_beside("beside").persisted
        return replan(*arguments)

    rebalance.start(moves_per_minute=600)
    monkeypatch.setattr(rebalance, "replan", planned_meanwhile)
    lease = HeldLease.take("curator", "test", 3600)
    assert move_rebalance_on(database_now() + timedelta(minutes=1), lease) > 0


@pytest.mark.only_on("postgresql")
def test_nobody_waits_for_the_commit_of_moves(ao, parts_in_turn):
    """In every bucket of job ids and every part of the counters that there is."""
    moves = [Move(f"job{n:02}", "old", "new1") for n in range(60)]
    locked = {bucket(move.job_id) for move in moves}
    beside = [each for each in map("beside{}".format, range(600)) if bucket(each) in locked]
    with atomic():
        assert move_jobs(moves, "rebalance") == 60
        with ThreadPoolExecutor(1) as pool:
            placed = pool.submit(threads, 1, lambda _: allocate_each(beside)).result()[0]
    assert placed == len(beside) > 50 and broken() == {}


@pytest.fixture
def parts_in_turn(monkeypatch):
    """Let one connection use one part after the other."""
    turns = count()
    monkeypatch.setattr(PostgresStore, "_part", lambda self: next(turns) % PARTS)


def allocate_each(job_ids):
    """Place them one by one; a lock that is not there at once is an error."""
    with connection.cursor() as cursor:
        cursor.execute("SET lock_timeout = '10s'")
    return sum(Atributo().allocate(job_id).persisted for job_id in job_ids)


@pytest.mark.only_on("postgresql")
def test_of_two_who_move_a_job_at_once_one_moves_it(ao, wait_until):
    """The second waits for the row, and finds it elsewhere."""
    with ThreadPoolExecutor(1) as pool:
        with atomic():
            assert move_jobs([Move("job00", "old", "new1")], "drain") == 1
            again = [Move("job00", "old", "new2"), Move("job01", "old", "new2")]
            second = pool.submit(threads, 1, lambda _: move_jobs(again, "drain"))
            wait_until(is_waiting)
        assert second.result() == [1]
    assert (ao.instance("job00"), ao.instance("job01")) == ("new1", "new2")
    assert PastAllocation.objects.filter(job_id="job00").count() == 1 and broken() == {}


def test_a_sweep_over_many_forced_drains_is_one_piece(ao, monkeypatch):
    for number in range(60):
        availability.make_available(f"old{number % 3}")
    move_jobs([Move(f"job{n:02}", "old", f"old{n % 3}") for n in range(60)], "test")
    for number in range(3):
        drains.drain(f"old{number}", deadline_seconds=0)
    monkeypatch.setattr(drains, "MOST_MOVES", 10)
    visit, lease = MoveDrainsOn(), HeldLease.take("curator", "test", 3600)
    assert [visit(database_now(), lease) for _ in "123456"] == [10] * 6
    assert [availability.load_of(f"old{number}") for number in range(3)] == [0, 0, 0]


def test_a_piece_of_a_removal_is_of_few_buckets(ao, monkeypatch):
    """Who allocates waits for the pieces that drop jobs of the same bucket."""
    monkeypatch.setattr(availability, "PIECE", 50)
    ao.unavailable("new1")
    ao.unavailable("new2")
    ao.allocate_many(f"more{n}" for n in range(340))
    pieces = []
    kind = type(availability.store("default"))
    end = kind.end
    monkeypatch.setattr(kind, "end", lambda *given: pieces.append(given[1].job_ids) or end(*given))
    ao.unavailable("old", destroyed=True)
    found = [len({bucket(job_id) for job_id in piece}) for piece in pieces]
    assert sum(map(len, pieces)) == 400
    assert max(found) <= 50 and sum(found) <= 256 + 2 * len(pieces)  # nearly each bucket once


@pytest.mark.parametrize(
    "remove",
    [
        lambda: Atributo().unavailable("old", destroyed=True),
        lambda: operations.remove_instance("old", drop_jobs=60),
    ],
)
def test_a_removal_of_many_jobs_lets_others_allocate_between_its_pieces(ao, monkeypatch, remove):
    def drop_meanwhile(*arguments):
        dropped.append(drop(*arguments))
        assert connection.in_atomic_block or allocate_beside(f"beside{len(dropped)}").persisted
        return dropped[-1]

    dropped, drop = [], availability._drop_jobs
    for module in (availability, operations):
        monkeypatch.setattr(module, "PIECE", 25)
    monkeypatch.setattr(availability, "_drop_jobs", drop_meanwhile)
    remove()
    assert (dropped, ao.jobs("old"), broken()) == ([25, 25, 10, 0, 0], [], {})
