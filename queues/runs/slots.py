"""Slots: take one, keep it, leave it.

Which queues have work now.
"""

import secrets
import time
from dataclasses import dataclass, field

from django.conf import settings

from atributo_site.core.database import dialect, hot_cursor
from atributo_site.core.errors import LeaseLost
from queues.logic.ranks import RANKS
from queues.sql import reserve, slots, sticky


def has_due(queue_id: int, *, using: str = "default") -> bool:
    statement = f"SELECT 1 WHERE {reserve.has_due(dialect(using), '%s')}"
    with hot_cursor(using) as cursor:
        cursor.execute(statement, [queue_id] * len(reserve.SHARED_RANKS))
        return cursor.fetchone() is not None


def next_job(
    queue_id: int, priority: int, *, station: str = "", using: str = "default"
) -> int | None:
    """The next job of a queue, for any worker or at a station, of this priority or a higher one."""
    d = dialect(using)
    ranks = [rank for rank in RANKS if rank <= -priority]
    if station:
        probes, whose = [sticky.probe(d, rank, "LIMIT 1") for rank in ranks], [station]
    else:
        probes, whose = [reserve.due_probe(d, rank, "id", "LIMIT 1") for rank in ranks], []
    parts = (f"SELECT id FROM ({probe}) r{number}" for number, probe in enumerate(probes))
    with hot_cursor(using) as cursor:
        cursor.execute(f"{' UNION ALL '.join(parts)} LIMIT 1", [*whose, queue_id] * len(ranks))
        row = cursor.fetchone()
    return None if row is None else row[0]


def free_slots_with_work(*, using: str = "default") -> list[tuple[str, int]]:
    """One free slot of each active queue that has a due job: (queue, slot number)."""
    with hot_cursor(using) as cursor:
        cursor.execute(reserve.free_slots(dialect(using)), [])
        return cursor.fetchall()


def queues_with_work(*, using: str = "default") -> list[tuple[int, str, int]]:
    """Active queues with a due job: (id, name, how many of them may be run at once)."""
    with hot_cursor(using) as cursor:
        cursor.execute(reserve.queues_with_work(dialect(using)), [])
        return cursor.fetchall()


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
            cursor.execute(slots.renew(d), [d.seconds(lease_seconds()), self.id, self.epoch])
            if cursor.rowcount != 1:
                raise self.lost()

    def release(self) -> None:
        with hot_cursor(self.using) as cursor:
            cursor.execute(slots.release(dialect(self.using)), [self.id, self.epoch])

    def give_back(self) -> int:
        """Free every job that is reserved and not started; one that was called off ends."""
        with hot_cursor(self.using) as cursor:
            cursor.execute(reserve.give_back(dialect(self.using)), [self.id, self.epoch])
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
        cursor.execute(slots.acquire(d), [queue, holder, key, lease, number])
        row = cursor.fetchone()
    if row is None:
        return None
    return HeldSlot(row[0], row[1], row[2], queue, number, holder, using, key, asked_at)


def _unring(queue: str, number: int, using: str) -> bool:
    with hot_cursor(using) as cursor:
        cursor.execute(slots.unring(dialect(using)), [queue, number])
        return cursor.rowcount == 1


def lease_seconds() -> float:
    return settings.ATRIBUTO.worker_lease_ms / 1000
