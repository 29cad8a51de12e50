"""A push knows its queue and script from memory, and is stored only while they are still so."""

import pytest
from django.db import connection
from django.db.transaction import atomic
from django.test.utils import CaptureQueriesContext

import queues
from allocation.transactions.engine.transaction import Transaction
from queues.errors import DataRefused, QueueNotFound
from queues.jobs import push_request
from queues.models import Queue, QueuedJob, Script, Slot
from queues.services import installation
from tests.factories.statements import about_queues


@pytest.fixture
def checked(queue, probe):
    """A script with a schema that this process has pushed before."""
    script = {"mount": probe, "name": "checked"}
    queue.push(script, {})
    return script


def test_a_second_push_reads_nothing(queue, checked):
    with CaptureQueriesContext(connection) as asked:
        queue.push(checked, {})
    assert len(about_queues(asked)) == 1


def test_a_changed_script_is_noticed(queue, checked, probe):
    with atomic():
        Script.objects.filter(name="checked").update(schema={"type": "integer"})
        installation.configure(probe, {"token": "new"})
    with pytest.raises(DataRefused, match="whole number"):
        queue.push(checked, {})
    assert queue.get(queue.push(checked, 7)).data == 7
    assert QueuedJob.objects.count() == 2


def test_what_was_refused_before_a_change_is_accepted_after_it(queue, checked, probe):
    with atomic():
        Script.objects.filter(name="checked").update(schema=None)
        installation.configure(probe, {"token": "new"})
    assert queue.get(queue.push(checked, "seven")).data == "seven"


def test_a_change_that_rolls_back_is_forgotten(queue, checked, probe):
    with pytest.raises(ZeroDivisionError), atomic():
        installation.uninstall(probe)
        queue.push(checked, "anything")
        1 / 0  # noqa: B018
    with pytest.raises(DataRefused):
        queue.push(checked, {"n": "seven"})


def test_a_push_that_is_held_reads_anew(queue, checked, probe):
    with atomic():
        Script.objects.filter(name="checked").update(schema={"type": "integer"})
        installation.configure(probe, {"token": "new"})
    with pytest.raises(DataRefused, match="whole number"):
        queue.push(checked, {}, transaction=Transaction())


def test_a_queue_that_was_deleted_is_noticed(queue, checked):
    queues.delete("work")
    with pytest.raises(QueueNotFound):
        queue.push(checked, {})
    queues.create("work")
    assert queue.get(queue.push(checked, {})).data == {"n": 7}


def test_another_queue_with_the_same_number_is_noticed(queue, checked):
    Queue.objects.filter(name="work").update(name="other")
    with pytest.raises(QueueNotFound):
        queue.push(checked, {})


def test_a_push_that_stores_nothing_rings_nowhere(queue, act):
    queue.push(act, unique_key="k")
    Slot.objects.update(rung_at=None)
    queue.push(act, unique_key="k")
    assert not Slot.objects.exclude(rung_at=None).exists()


def test_memory_is_bounded(queue, monkeypatch):
    monkeypatch.setattr(push_request, "MOST_KNOWN", 2)
    for number in range(5):
        push_request.known("work", "/nowhere", f"script{number}")
    assert len(push_request._known) <= 2
