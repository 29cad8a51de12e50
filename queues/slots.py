"""Slots: take one, keep it, leave it."""

import secrets
import time
from dataclasses import dataclass, field

from django.conf import settings

from allocation.errors import LeaseLost
from queues import slot_sql, sql
from queues.dialect import dialect
from queues.statements import hot_cursor


@dataclass(frozen=True)
class HeldSlot:
    """The right to run one job of a queue, while the lease lasts."""

    id: int
    epoch: int
    queue_id: int
    queue: str
    number: int
    holder: str
    using: str = "default"
    notes_key: str = field(default="", repr=False)
    taken_at: float = field(default_factory=time.monotonic, compare=False)

    def renew(self) -> None:
        """Raise LeaseLost once somebody else may have it."""
        d = dialect(self.using)
        with hot_cursor(self.using) as cursor:
            cursor.execute(slot_sql.renew(d), [d.seconds(lease_seconds()), self.id, self.epoch])
            if cursor.rowcount != 1:
                raise self.lost()

    def release(self) -> None:
        with hot_cursor(self.using) as cursor:
            cursor.execute(slot_sql.release(dialect(self.using)), [self.id, self.epoch])

    def give_back(self) -> int:
        """Free every job that is reserved and not started; one that was called off ends."""
        with hot_cursor(self.using) as cursor:
            cursor.execute(sql.give_back(dialect(self.using)), [self.id, self.epoch])
            return cursor.rowcount

    def lost(self) -> LeaseLost:
        return LeaseLost(f"slot {self.number} of queue {self.queue} is no longer ours")


def acquire(queue: str, number: int, holder: str, *, using: str = "default") -> HeldSlot | None:
    """None when the slot is taken, too many, or its queue is paused or gone.

    Then nobody is on the way to it any more: whoever lets the queue go on from now on rings. Who
    did so a moment ago did not, so we look once more.
    """
    slot = _acquire(queue, number, holder, using)
    if slot is None and _unring(queue, number, using):
        slot = _acquire(queue, number, holder, using)
    return slot


def _acquire(queue: str, number: int, holder: str, using: str) -> HeldSlot | None:
    d = dialect(using)
    key, asked_at = secrets.token_hex(16), time.monotonic()
    lease = d.seconds(lease_seconds())
    with hot_cursor(using) as cursor:
        cursor.execute(slot_sql.acquire(d), [queue, holder, key, lease, number])
        row = cursor.fetchone()
    if row is None:
        return None
    return HeldSlot(row[0], row[1], row[2], queue, number, holder, using, key, asked_at)


def _unring(queue: str, number: int, using: str) -> bool:
    with hot_cursor(using) as cursor:
        cursor.execute(slot_sql.unring(dialect(using)), [queue, number])
        return cursor.rowcount == 1


def lease_seconds() -> float:
    return settings.ATRIBUTO.worker_lease_ms / 1000
