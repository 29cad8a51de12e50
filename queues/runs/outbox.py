"""The outbox: pushes that wait for their transaction, in the same database as its row."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any

from django.db.models.functions import Now
from django.db.transaction import atomic

from allocation.transactions.errors import JobIsRolledBack, TransactionIsOver
from allocation.transactions.models import Transaction
from allocation.transactions.store.refusals import why_over
from atributo_site.core.after_commit import after_commit
from atributo_site.core.database import dialect, execute
from atributo_site.core.events import record
from queues.flow import flows
from queues.models import HeldPush
from queues.runs.doorbell import ring
from queues.sql import push as push_sql

BATCH = 500
_holder: ContextVar[int | None] = ContextVar("transaction that holds pushes", default=None)


@contextmanager
def holding(transaction: int) -> Iterator[None]:
    """Let every push of this thread inside the block wait for the transaction."""
    reset = _holder.set(transaction)
    try:
        yield
    finally:
        _holder.reset(reset)


@contextmanager
def holding_for(transaction: Any) -> Iterator[None]:
    """Do the same for a Transaction object, which delivers them when it completes."""
    with holding(transaction.id):
        yield
    transaction.afterwards(partial(deliver, transaction.id))


def holder() -> int | None:
    return _holder.get()


def keep(transaction: int, rows: list[dict[str, Any]]) -> None:
    """Keep rows with the columns of push_sql.PUSHED; refuse unless the transaction is active."""
    with atomic():
        active = Transaction.objects.select_for_update().filter(
            pk=transaction, status=Transaction.Status.ACTIVE, expires_at__gt=Now()
        )
        if not list(active.values_list("pk")):
            raise _why_over(transaction)
        HeldPush.objects.bulk_create(_held(transaction, row) for row in rows)


def is_kept(ids: list[int]) -> bool:
    """Of pushes that are kept together, the first tells of all."""
    return HeldPush.objects.filter(pk__in=ids[:1]).exists()


def _why_over(transaction: int) -> TransactionIsOver:
    epochs = Transaction.objects.filter(pk=transaction).values_list("epoch", flat=True)
    why = why_over(transaction, epochs.first() or 0)
    return why or JobIsRolledBack(f"transaction {transaction} is over")


def _held(transaction: int, row: dict[str, Any]) -> HeldPush:
    columns = {column: row[column] for column in push_sql.PUSHED}
    job_id, queue_id = columns.pop("id"), columns.pop("queue_id")
    return HeldPush(id=job_id, transaction=transaction, queue_id=queue_id, columns=columns)


def deliver(transaction: int) -> int:
    """Turn the pushes of a completed transaction into jobs; return how many."""
    with atomic():
        held = HeldPush.objects.select_for_update(of=("self",)).filter(transaction=transaction)
        pushes = list(held.select_related("queue").order_by("id"))
        for push in pushes:
            _insert(push)
        held.model.objects.filter(pk__in=[push.pk for push in pushes]).delete()
        for queue in {push.queue_id: push.queue for push in pushes}.values():
            due = sum(push.queue_id == queue.pk for push in pushes)
            of_flows = {push.columns.get("flow_id") for push in pushes if push.queue_id == queue.pk}
            after_commit(partial(_ring, queue, due, of_flows - {None}))
    return len(pushes)


def _ring(queue: Any, due: int, of_flows: set[int]) -> None:
    if of_flows:
        flows.wake(queue.pk, of_flows)
    ring(queue.pk, queue.name, due)


def drop(transactions: list[int]) -> int:
    """Delete the pushes of transactions that are rolled back."""
    if not transactions:
        return 0
    rolled_back = Transaction.objects.filter(
        pk__in=transactions, status=Transaction.Status.ROLLED_BACK
    )
    return HeldPush.objects.filter(transaction__in=rolled_back.values("pk")).delete()[0]


def described(transactions: list[int]) -> list[dict[str, Any]]:
    """Describe what these transactions would push."""
    held = HeldPush.objects.filter(transaction__in=transactions).select_related("queue")
    return [
        {
            "queue": push.queue.name,
            "mount": push.columns["mount"],
            "script": push.columns["script"],
            "data": json.loads(push.columns["data"] or "null"),
        }
        for push in held.order_by("id")[:BATCH]
    ]


def deliver_or_drop(limit: int = BATCH) -> int:
    """Deliver or drop what a crash left behind; skip transactions that are open."""
    waiting = HeldPush.objects.order_by("transaction").values_list("transaction", flat=True)
    transactions = list(waiting.distinct()[:limit])
    ended = dict(Transaction.objects.filter(pk__in=transactions).values_list("pk", "status"))
    return sum(
        _deliver_or_drop_one(pk, ended.get(pk, Transaction.Status.ROLLED_BACK))
        for pk in transactions
    )


def _deliver_or_drop_one(transaction: int, status: str) -> int:
    if status == Transaction.Status.COMPLETED:
        delivered = deliver(transaction)
        if delivered:
            record("push.delivered", f"transaction:{transaction}", jobs=delivered)
        return delivered
    if status == Transaction.Status.ROLLED_BACK:
        return HeldPush.objects.filter(transaction=transaction).delete()[0]
    return 0


def _insert(push: HeldPush) -> None:
    values = dict.fromkeys(push_sql.PUSHED) | push.columns
    values |= {"id": push.pk, "queue_id": push.queue_id}
    if not execute(push_sql.push(dialect(), once=True), values).rows:
        twin = values["unique_key"]
        record("push.superseded", f"queue:{push.queue.name}", job=push.pk, unique_key=twin)
