"""Many queues: what the curator and workers ask does not grow with queues that have no work."""

from datetime import timedelta

import pytest
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext

import queues
from atributo_site.core.database import dialect
from atributo_site.core.models.clock import database_now
from queues import catalogue
from queues.errors import BadPage
from queues.models import QueuedJob, Slot
from queues.runs.doorbell import channel_of, queues_to_ring
from queues.runs.slots import free_slots_with_work
from queues.sql import work

TOMORROW = 86_400_000
FIRST, OTHERS = (f"rq:queue:{channel_of('', first=each)}" for each in (True, False))


@pytest.fixture
def many(queue):
    """Thirty queues; `sweep` and `push` meet them beside the one called work."""
    return [queues.create(f"q{number:02}") for number in range(30)]


def statements(do):
    do()  # what is prepared once per connection
    with CaptureQueriesContext(connection) as seen:
        do()
    return len(seen.captured_queries)


def test_an_idle_sweep_takes_as_many_statements_with_many_queues(queue, sweep):
    few = statements(sweep)
    for number in range(30):
        queues.create(f"q{number}")
    assert statements(sweep) < few + 10  # some repairs pause by the clock


def test_old_jobs_of_all_queues_are_forgotten_by_their_own_retention(many, act, hands, sweep):
    catalogue.set_retention("q00", 3)
    catalogue.set_retention("q01", catalogue.MOST_DAYS)
    for each in many[:3]:
        each.push(act)
    hands.drain()
    QueuedJob.objects.update(ended_at=F("ended_at") - timedelta(days=4))
    assert sweep()["old jobs"] == 1
    assert [len(each.all()) for each in many[:3]] == [0, 1, 1]
    QueuedJob.objects.update(ended_at=F("ended_at") - timedelta(days=40))
    assert sweep()["old jobs"] == 1
    assert [len(each.all()) for each in many[:3]] == [0, 1, 0]


def test_only_queues_with_a_due_job_and_a_free_slot_are_rung(many, act, sweep):
    sweep()
    for each in many[:6]:
        each.push(act)
    many[6].push(act, delay=TOMORROW)
    Slot.objects.update(rung_at=None)
    queues.pause("q00")
    queues.delete("q01")
    Slot.objects.filter(queue__name="q02").update(holder="a", leased_until=database_now())
    Slot.objects.filter(queue__name="q03").update(rung_at=database_now())
    assert [name for _, name, _ in queues_to_ring()] == ["q04", "q05"]


def test_work_is_found_in_every_rank(many, act):
    for number, priority in enumerate((-2, -1, 0, 1, 2)):
        many[number].push(act, priority=priority)
        many[number].push(act, delay=TOMORROW, priority=2 - number)
    assert free_slots_with_work() == [(f"q{number:02}", 0) for number in range(5)]


def test_bells_of_many_queues_take_a_constant_number_of_statements(many, act, sweep):
    def ring_for(count):
        for each in many[:count]:
            each.push(act)
        Slot.objects.update(rung_at=None)
        with CaptureQueriesContext(connection) as seen:
            sweep()
        assert Slot.objects.filter(rung_at__isnull=False).count() == count
        return len(seen.captured_queries)

    ring_for(2)
    few = ring_for(5)
    assert ring_for(25) < few + 10  # some repairs pause by the clock


def test_a_bell_that_still_hangs_is_not_rung_twice(many, act, sweep, redis_connection):
    for each in many[:3]:
        each.push(act)
    Slot.objects.update(rung_at=F("rung_at") - timedelta(seconds=5))
    sweep()
    assert (redis_connection.llen(FIRST), redis_connection.llen(OTHERS)) == (3, 0)


def test_a_bell_that_redis_has_lost_is_rung_again(many, act, sweep, redis_connection):
    for each in many[:3]:
        each.push(act)
    redis_connection.lpop(FIRST)
    Slot.objects.update(rung_at=F("rung_at") - timedelta(seconds=5))
    sweep()
    assert (redis_connection.llen(FIRST), redis_connection.llen(OTHERS)) == (2, 1)


@pytest.mark.only_on("sqlite")  # PostgreSQL plans by the size of its tables
def test_the_next_queue_with_jobs_is_found_by_an_index(many):
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {work.free_slots(dialect())}", {})
        plan = " ".join(str(row[-1]) for row in cursor.fetchall())
    assert "USING INDEX job_waiting (queue_id>?)" in plan


def test_a_list_is_read_page_by_page(queue, act, probe):
    """In the order by due time, whatever their priority, and past jobs that have ended."""
    other = {"mount": probe, "name": "wait"}
    for number in range(5):
        queue.push_many(act, [None] * 2, priority=number % 3)
        queue.push(other, delay=number * 1000)
    QueuedJob.objects.filter(pk=queue.pending()[4]).update(
        slot=Slot.objects.get(queue__name="work")
    )
    for script in (None, act, other):
        everything = queue.pending(script)
        pages, after = [], None
        while page := queue.pending(script, limit=2, after=after):
            pages, after = pages + page, page[-1]
        assert pages == everything == queue.all(script)
        assert queue.all(script, limit=3, after=everything[0]) == everything[1:4]
    queue.get(page_end := queue.pending(limit=3)[-1]).abort()
    assert queue.pending(limit=2, after=page_end) == queue.all()[3:5]


def test_a_page_does_not_sort_all_that_wait(queue, act):
    queue.push_many(act, [None] * 50)
    with CaptureQueriesContext(connection) as seen:
        assert len(queue.pending(limit=10)) == 10
    assert not [
        query for query in seen.captured_queries if 'queues_queuedjob"."due' in query["sql"]
    ]


@pytest.mark.parametrize("limit", [0, -1, "2", True, 1.5])
def test_a_page_has_a_number_of_jobs(queue, limit):
    with pytest.raises(BadPage, match="limit must be a whole number"):
        queue.pending(limit=limit)
