"""A bell that fails in a way nobody foresaw: what is committed is answered as committed."""

from functools import partial

import pytest

from allocation.atributo import Atributo
from allocation.transactions.engine.transaction import Transaction
from atributo_site.core.after_commit import after_commit
from atributo_site.core.models.clock import from_now
from queues.jobs import actions, bulk
from queues.models import QueuedJob, Station
from queues.runs import doorbell
from queues.runs.doorbell import CHANNEL


@pytest.fixture
def broken_bell(queue, settings):
    """An address that no client understands: not one of Redis' own errors."""
    url = "nonsense://nowhere"
    settings.RQ_QUEUES = {CHANNEL: {**settings.RQ_QUEUES[CHANNEL], "URL": url}}
    doorbell._clients.clear()
    yield
    doorbell._clients.clear()


def test_a_push_is_done_once(broken_bell, queue, act):
    job_id = queue.push(act)
    assert [str(job.pk) for job in QueuedJob.objects.all()] == [job_id]


def test_a_sticky_push_is_done_once(broken_bell, queue, act):
    Atributo().available("i1")
    Station.objects.create(instance_id="i1", served_until=from_now(60))
    job_id = queue.push(act, sticky_key="k")
    assert [str(job.pk) for job in QueuedJob.objects.all()] == [job_id]


def test_a_push_of_a_transaction_is_delivered_once(broken_bell, queue, act):
    txn = Transaction()
    job_id = queue.push(act, transaction=txn)
    txn.complete()
    assert [str(job.pk) for job in QueuedJob.objects.all()] == [job_id]


@pytest.mark.parametrize("action", ["abort", "delete"])
def test_what_is_steered_is_answered(broken_bell, queue, act, action):
    getattr(actions, action)(int(queue.push(act)))
    assert not QueuedJob.objects.unfinished().exists()


@pytest.mark.parametrize("action", ["retry", "abort", "delete"])
def test_what_is_steered_in_bulk_is_answered(broken_bell, queue, act, action):
    ids = [int(queue.push(act)) for _ in range(2)]
    done = bulk.Done()
    bulk.ACTIONS[action](ids, done)
    assert done.changed == 2


@pytest.mark.django_db(transaction=True)
def test_the_log_names_what_failed_and_not_its_arguments(caplog):
    after_commit(partial(int, "no number"))
    assert "Error calling int in on_commit()" in caplog.text
