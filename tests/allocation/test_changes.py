"""Who follows placements misses none of them and gets them in order, from any position on."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from itertools import islice

import pytest
from django.db import connections
from django.db.transaction import atomic

from allocation.atributo import Atributo
from allocation.errors import InvalidSetting, UnknownPosition
from allocation.logic.drain import Move
from allocation.models import PastAllocation, Roster
from allocation.placement import changes
from allocation.placement.changes import ChangeReader
from allocation.placement.moves import move_jobs
from allocation.repairs import forget_past_allocations
from atributo_site.core.leases import HeldLease
from atributo_site.core.models.clock import database_now
from tests.allocation.placement.concurrency import threads


@pytest.fixture
def ao(transactional_db):
    made = Atributo()
    made.available("a")
    return made


def all_of(reader):
    found = []
    while page := reader.read():
        found += page
    return found


def told(found):
    return [(each.kind, each.job_id, each.instance_id, each.source) for each in found]


def test_a_job_is_made_moved_and_ended(ao):
    start = ao.position()
    ao.allocate("job", labels=None)
    ao.available("b", labels={"zone": "b"})
    move_jobs([Move("job", "a", "b")], "drain")
    ao.deallocate("job")
    ao.allocate("late", labels={"zone": "b"})
    found = list(islice(ao.changes(start), 4))
    assert told(found) == [
        ("made", "job", "a", None),
        ("moved", "job", "b", "a"),
        ("ended", "job", "b", None),
        ("made", "late", "b", None),
    ]
    assert [each.reason for each in found[:3]] == ["md5-modulo", "drain", "deallocated"]
    assert found[3].labels == {"zone": "b"}
    assert found == sorted(found, key=lambda each: each.position)


def test_any_position_is_a_place_to_go_on_from(ao, monkeypatch):
    start = ao.position()
    ao.allocate_many(f"job{n}" for n in range(9))
    ao.deallocate_many([f"job{n}" for n in range(0, 9, 2)])
    ao.allocate_many(["job0", "job2"])
    ao.unavailable("a", destroyed=True)
    every = all_of(ChangeReader("default", start))
    assert len(every) == 9 + 5 + 2 + 6
    monkeypatch.setattr(changes, "PAGE", 2)
    for number, change in enumerate(every):
        assert all_of(ChangeReader("default", change.position)) == every[number + 1 :]


def test_without_a_position_it_begins_now_and_ends_when_closed(ao):
    ao.allocate("before")
    following = ao.changes(every_seconds=0.01)
    ao.allocate("after")
    assert next(following).job_id == "after"
    ao.close()
    assert list(following) == []


@pytest.mark.parametrize("wrong", [-1, True, "1", 10**15])
def test_a_position_that_never_was_is_refused(ao, wrong):
    with pytest.raises(UnknownPosition, match="the last one is"):
        ao.changes(wrong)


@pytest.mark.parametrize("wrong", [0, -1, "1", None])
def test_a_pause_that_is_none_is_refused(ao, wrong):
    with pytest.raises(InvalidSetting, match="every_seconds must be"):
        ao.changes(every_seconds=wrong)


def test_who_comes_after_the_history_was_forgotten_is_told(ao):
    start = ao.position()
    ao.allocate("job")
    reader = ChangeReader("default", start)
    ao.deallocate("job")
    PastAllocation.objects.update(ended_at=database_now() - timedelta(days=5000))
    assert forget_past_allocations(database_now(), HeldLease.take("curator", "test", 3600)) == 1
    with pytest.raises(UnknownPosition, match="forgotten"):
        reader.read()
    with pytest.raises(UnknownPosition, match="forgotten"):
        ao.changes(start)
    assert all_of(ChangeReader("default", Roster.objects.get().forgotten_epoch)) == []


def in_another_thread(work):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: [work(), connections.close_all()][0]).result()


@pytest.mark.only_on("postgresql")
def test_an_open_transaction_is_waited_for_and_not_missed(ao):
    """The epoch of "early" is lower, though it is committed later."""
    reader = ChangeReader("default", None)
    with atomic():
        ao.allocate("early")
        in_another_thread(lambda: Atributo().allocate("late"))
        assert in_another_thread(reader.read) == []
    assert [change.job_id for change in all_of(reader)] == ["early", "late"]


@pytest.mark.only_on("postgresql")
def test_an_epoch_of_a_transaction_that_rolls_back_is_skipped(ao):
    reader = ChangeReader("default", None)
    with pytest.raises(ZeroDivisionError), atomic():
        ao.allocate("never")
        in_another_thread(lambda: Atributo().allocate("late"))
        in_another_thread(reader.read)
        1 / 0  # noqa: B018
    assert [change.job_id for change in all_of(reader)] == ["late"]


def test_beside_writers_nothing_is_missed_doubled_or_out_of_order(ao):
    ao.available("b")
    reader, found, done = ChangeReader("default", None), [], []

    def write(number):
        own = Atributo()
        for turn in range(15):
            job_id = f"job{number}-{turn % 3}"
            own.allocate(job_id)
            with atomic():
                own.allocate(f"{job_id}-together")
                own.deallocate(job_id)
        done.append(number)

    def work(number):
        if number < 4:
            return write(number)
        while len(done) < 4:
            found.extend(reader.read())

    threads(5, work)
    found += all_of(reader)
    positions = [change.position for change in found]
    assert positions == sorted(set(positions))
    assert found == all_of(ChangeReader("default", positions[0] - 1))
    kinds = {}
    for change in found:
        assert kinds.get(change.job_id, "ended") != change.kind  # made, ended, made, ...
        kinds[change.job_id] = change.kind
    assert sum(change.kind == "ended" for change in found) == 4 * 15
