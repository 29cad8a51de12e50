"""One job more or less at once."""

import pytest

import queues
from atributo_site.core.models import Event
from queues.catalogue import scale_by
from queues.errors import QueueNotFound
from queues.models import Queue, Slot
from queues.models.queue import MOST_WORKERS
from tests.allocation.placement.concurrency import threads


def test_a_step_up_adds_a_slot_and_an_event(queue):
    before = queue.max_workers
    assert scale_by("work", 1) == before + 1 == queue.max_workers
    assert Slot.objects.filter(queue__name="work").count() == before + 1
    event = Event.objects.filter(subject="queue:work").latest("id")
    assert (event.kind, event.facts) == ("queue.changed", {"max_workers": before + 1})


def test_a_step_down_is_refused_at_one(db):
    queues.create("q", 2)
    assert [scale_by("q", -1), scale_by("q", -1)] == [1, None]
    assert Event.objects.filter(subject="queue:q", kind="queue.changed").count() == 1


def test_a_step_up_is_refused_at_the_most(db):
    queues.create("q")
    Queue.objects.filter(name="q").update(max_workers=MOST_WORKERS)
    assert scale_by("q", 1) is None


def test_a_deleted_queue_has_no_steps(queue):
    queues.delete("work")
    with pytest.raises(QueueNotFound):
        scale_by("work", 1)


@pytest.mark.django_db(transaction=True)
def test_all_who_step_at_once_count():
    queues.create("q", 4)
    found = threads(8, lambda number: scale_by("q", -1 if number % 4 == 0 else 1))
    assert queues.get("q").max_workers == 4 + 6 - 2
    told = Event.objects.filter(subject="queue:q", kind="queue.changed")
    assert sorted(event.facts["max_workers"] for event in told) == sorted(found)


@pytest.mark.django_db(transaction=True)
def test_one_of_two_who_step_down_to_one_is_told():
    queues.create("q", 2)
    found = threads(2, lambda number: scale_by("q", -1))
    assert sorted(found, key=str) == [1, None]


def test_a_new_slot_is_rung_for(probe, act):
    """What waits for room starts without waiting for the curator."""
    queues.create("q", 1).push_many(act, [None] * 3)
    rung = Slot.objects.filter(queue__name="q").exclude(rung_at=None)
    assert rung.count() == 1
    scale_by("q", 1)
    assert rung.count() == 2
