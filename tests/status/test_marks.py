"""The marks differ after every change that an open page shows, and stay while nothing happens."""

import pytest
from django.db.models import F

from allocation.atributo import Atributo
from allocation.placement import drains
from allocation.transactions import Client, Transaction
from atributo_site.core.leases import HeldLease
from atributo_site.core.models import Lease
from atributo_site.core.models.clock import database_now
from atributo_site.status.marks import Generation, changed, marks
from pools.models import BackendChange, Pool, PoolSnapshot
from queues.models import MinuteCount, QueuedJob
from tests.factories.jobs import make_job, make_queue

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def kinds():
    """Return the kinds that an act changes."""

    def of(act):
        before = marks()
        act()
        return changed(before, marks())

    return of


def test_nothing_changes_while_nothing_happens(kinds):
    lease = HeldLease.take("curator", "test", 3600)
    make_job(make_queue(), "progress")
    assert kinds(lambda: None) == set()
    assert kinds(lease.renew) == set()  # a heartbeat is no change


@pytest.mark.parametrize("status", ["pending", "progress"])
def test_a_job_that_comes_or_starts_is_a_change(kinds, status):
    queue = make_queue()
    assert kinds(lambda: make_job(queue, status)) == {"job"}


def test_a_job_with_an_older_id_that_commits_later_is_a_change(kinds):
    queue = make_queue()
    newest = make_job(queue)
    assert kinds(QueuedJob(id=newest.pk - 1, queue=queue, script="x").save) == {"job"}


def test_a_second_job_that_takes_the_place_of_the_first_is_a_change(kinds):
    queue = make_queue()
    first = make_job(queue, "progress")

    def next_one():
        done = {"status": "complete", "slot": None, "ended_at": F("due_at")}
        QueuedJob.objects.filter(pk=first.pk).update(**done)
        make_job(queue, "progress")

    assert kinds(next_one) == {"job"}


def test_a_counted_end_is_a_change(kinds):
    minute = MinuteCount(queue=make_queue(), minute=database_now().replace(second=0, microsecond=0))
    minute.save()
    assert kinds(lambda: MinuteCount.objects.update(complete=F("complete") + 1)) == {"job"}


def test_placements_and_instances_are_changes(kinds):
    ao = Atributo()
    assert "instance" in kinds(lambda: ao.available("web-1"))
    assert kinds(lambda: ao.allocate("a")) == {"allocation"}
    assert kinds(lambda: ao.allocate("a")) == set()
    assert "instance" in kinds(lambda: drains.drain("web-1"))
    assert "allocation" in kinds(lambda: ao.deallocate("a"))


def test_transactions_locks_and_documents_are_changes(kinds):
    client = Client()
    assert kinds(lambda: client.put("users", "ada", {"n": 1})) == {"document"}
    begun = []
    assert kinds(lambda: begun.append(Transaction(client))) == {"transaction"}
    assert {"lock", "document"} <= kinds(lambda: begun[0].put("users", "ada", {"n": 2}))
    assert {"transaction", "lock"} <= kinds(begun[0].complete)


def test_backends_and_live_pools_are_changes(kinds):
    pool = Pool.objects.create(name="web", domain="web.example")
    change = {"pool": pool, "kind": "added", "actor": "test"}
    assert kinds(lambda: BackendChange.objects.create(**change)) == {"pool"}
    assert kinds(lambda: PoolSnapshot.objects.create(process="p", body={})) == {"pool"}


def test_a_process_that_comes_or_goes_is_a_change(kinds):
    assert kinds(lambda: Lease.objects.acquire("worker/a", "a", 3600)) == {"process"}
    token = Lease.objects.get(role="worker/a").token
    assert kinds(lambda: Lease.objects.release("worker/a", token)) == {"process"}


def test_marks_take_as_many_queries_however_much_there_is(django_assert_max_num_queries):
    for number in range(30):
        make_job(make_queue(f"queue{number}"))
    with django_assert_max_num_queries(16):
        marks()


def test_a_generation_that_begins_again_has_another_name():
    generation = Generation()
    generation.begin()
    first = generation.name
    generation.advance()
    second = generation.name
    generation.begin()
    assert len({first, second, generation.name}) == 3
