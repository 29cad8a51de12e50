"""Queues: made, changed, deleted, paused."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

import queues
from atributo_site.core.models import Event
from queues.errors import BadQueue, QueueNotFound
from queues.models import Queue, Slot


def test_a_new_queue_has_no_jobs(queue):
    assert queue.all() == []
    assert queues.get("work").name == "work"


def test_an_unknown_queue_is_named_in_the_error(db):
    with pytest.raises(QueueNotFound, match="Queue does not exist: some-queue"):
        queues.get("some-queue")


def test_default_always_exists(db):
    assert queues.get("default").max_workers == 1


def test_default_cannot_be_deleted(db):
    with pytest.raises(BadQueue, match="always exists"):
        queues.delete("default")


@pytest.mark.parametrize("name", ["a\x00", "\ud800", "", None, 5, "x" * 256])
def test_a_name_that_no_queue_can_have(db, name):
    assert queues.delete(name) is False
    with pytest.raises(QueueNotFound):
        queues.get(name)
    with pytest.raises(BadQueue):
        queues.create(name)


def test_creating_twice_is_one_queue(db):
    first = queues.create("my-queue")
    second = queues.create("another-queue", 2)
    third = queues.create("my-queue", 10)
    assert first == third != second
    assert Queue.objects.filter(name="my-queue").count() == 1
    assert first.max_workers == 10


def test_creating_without_a_number_keeps_it(db):
    queues.create("q", 10)
    assert queues.create("q").max_workers == 10


def test_a_queue_has_as_many_slots_as_workers(db):
    queues.create("q", 3)
    queues.create("q", 5)
    assert Slot.objects.filter(queue__name="q").count() == 5


def test_a_new_queue_takes_three_statements(db):
    queues.create("first")  # it prepares what is prepared once per connection
    with CaptureQueriesContext(connection) as seen:
        queues.create("q", 3)
    kinds = [query["sql"].split()[0] for query in seen.captured_queries]
    around = {"BEGIN", "COMMIT", "SAVEPOINT", "RELEASE"}
    assert len([kind for kind in kinds if kind not in around]) == 3, kinds


def test_deleting_says_whether_it_was_there(db):
    queues.create("q")
    handle = queues.get("q")
    assert queues.delete("q") is True
    assert queues.delete("q") is False
    for ask in (lambda: queues.get("q"), lambda: handle.max_workers):
        with pytest.raises(QueueNotFound, match="Queue does not exist: q"):
            ask()


@pytest.mark.parametrize("number", [0, -1, 1001, 1.5, True, "2"])
def test_a_number_of_workers_must_make_sense(db, number):
    with pytest.raises(BadQueue):
        queues.create("q", number)


def test_a_paused_queue_starts_nothing(queue, act, hands):
    queues.pause("work")
    job = queue.get(queue.push(act))
    hands.drain()
    assert job.status == "pending"
    queues.resume("work")
    hands.drain()
    assert job.status == "complete"


def test_jobs_of_a_deleted_queue_wait_for_it(queue, act, hands):
    job = queue.get(queue.push(act))
    queues.delete("work")
    hands.drain()
    assert job.status == "pending"
    queues.create("work")
    hands.drain()
    assert job.status == "complete"


def test_a_queue_that_is_made_again_is_as_new(queue, act, hands):
    queues.create("work", 10)
    queues.pause("work")
    job = queue.get(queue.push(act))
    queues.delete("work")
    assert queues.create("work").max_workers == 1
    hands.drain()
    assert job.status == "complete"
    assert Event.objects.filter(kind="queue.created", subject="queue:work").count() == 2
