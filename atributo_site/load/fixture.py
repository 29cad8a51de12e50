"""The queue, the collection and the instances of one load test."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import queues
from allocation.atributo import Atributo
from allocation.instances.availability import remove
from allocation.models import Allocation, Instance, PastAllocation
from allocation.transactions import Client
from allocation.transactions.models import Document, JournalEntry, Lock, Transaction
from queues.models import HeldPush, MinuteCount, Queue, QueuedJob, Slot

PREFIX = "load-test-"
INSTANCES = 4
CHUNK = 1000


@dataclass(frozen=True)
class LoadFixture:
    """Use names that no other load test has."""

    name: str

    @property
    def collection(self) -> str:
        return self.name.replace("-", "_")


@contextmanager
def load_fixture() -> Iterator[LoadFixture]:
    """Make the rows at the beginning and remove them at the end, whatever happens in between."""
    made = LoadFixture(PREFIX + secrets.token_hex(4))
    try:
        _make(made)
        yield made
    finally:
        clear(made)


def left_over() -> list[LoadFixture]:
    """Find what killed load tests left behind."""
    names = set(Queue.objects.filter(name__startswith=PREFIX).values_list("name", flat=True))
    return [LoadFixture(name) for name in sorted(names)]


def clear(made: LoadFixture) -> None:
    """Remove every row of a load test, a bounded number at a time."""
    _clear_allocations(made.name)
    _clear_queue(made.name)
    _clear_documents(made)


def _make(made: LoadFixture) -> None:
    """Pause the queue: the load is the pushing, no script is run.

    Instances of the load test would be given keys of others, so they are made only where none is
    available.
    """
    queues.create(made.name)
    queues.pause(made.name)
    if not Instance.objects.filter(available=True).exists():
        for number in range(INSTANCES):
            Atributo().available(f"{made.name}-{number}", reason="load test")


def _clear_allocations(name: str) -> None:
    own = Allocation.objects.starting_with(f"{name}/")
    for ids in _chunks(own):
        Atributo().deallocate_many(ids)
    _delete(PastAllocation.objects.filter(job_id__startswith=f"{name}/"))
    for instance in Instance.objects.filter(pk__startswith=f"{name}-"):
        remove(instance.pk)


def _clear_queue(name: str) -> None:
    of_queue = {"queue__name": name}
    _delete(QueuedJob.objects.filter(**of_queue))
    for model in (HeldPush, MinuteCount, Slot):
        model.objects.filter(**of_queue).delete()
    Queue.objects.filter(name=name).delete()


def _clear_documents(made: LoadFixture) -> None:
    for ids in _chunks(Transaction.objects.filter(owner=made.name)):
        Lock.objects.filter(transaction__in=ids).delete()
        JournalEntry.objects.filter(transaction__in=ids).delete()
        Transaction.objects.filter(pk__in=ids).delete()
    Client().drop(made.collection)
    _delete(Document.objects.filter(collection=made.collection))


def _delete(rows: Any) -> None:
    for ids in _chunks(rows):
        rows.model.objects.filter(pk__in=ids).delete()


def _chunks(rows: Any) -> Iterator[list[Any]]:
    """Yield ids of rows; the caller removes them before it asks for the next."""
    while ids := list(rows.order_by("pk").values_list("pk", flat=True)[:CHUNK]):
        yield ids
