"""Take a slot of a queue, keep it, leave it; and find queues that have work."""

import secrets
import time
from dataclasses import dataclass, field

from django.conf import settings

from atributo_site.core.database import (
    Row,
    dialect,
    execute,
    execute_each_in_turn,
    execute_in_turn,
    in_index_order,
)
from atributo_site.core.errors import LeaseLost
from queues.logic.ranks import RANKS
from queues.sql import reserve, slots, sticky, work


def has_due(queue_id: int) -> bool:
    return bool(execute(reserve.is_due(dialect()), {"queue_id": queue_id}).rows)


def next_job(queue_id: int, priority: int, *, station: str = "") -> int | None:
    """Return the next job of this priority or a higher one, for any worker or at a station."""
    sql = sticky if station else reserve
    ranks = tuple(rank for rank in RANKS if rank <= -priority)
    given = {"queue_id": queue_id, "station": station}
    row = execute(sql.first_due(dialect(), ranks), given).first
    return None if row is None else row[0]


def free_slots_with_work() -> list[tuple[str, int]]:
    """Return a free slot of each active queue with a due job: queue and slot number."""
    return execute(work.free_slots(dialect()), {}).rows


@dataclass(frozen=True)
class HeldSlot:
    """The right to run one job of a queue, while the lease lasts."""

    id: int
    epoch: int
    queue_id: int
    queue: str
    number: int
    holder: str
    notes_key: str = field(default="", repr=False)
    has_flow: bool = field(default=False, compare=False)  # flow control decides about its queue
    taken_at: float = field(default_factory=time.monotonic, compare=False)

    def renew(self) -> None:
        """Renew the lease; raise LeaseLost once somebody else may have the slot."""
        lease = {**self.key, "lease_seconds": lease_seconds()}
        if execute(slots.renew(dialect()), lease).count != 1:
            raise self.lost()

    def release(self) -> None:
        execute(slots.release(dialect()), self.key)

    def give_back(self) -> int:
        """Free every job that is reserved and not started; one that was aborted ends."""
        return execute(reserve.give_back(dialect()), self.key).count

    def leave(self) -> list[str]:
        """Give back and release; return the stations that the queue has work for after that.

        Only a look after the commit finds the job of a push that saw the slot still held. An empty
        name stands for any worker. On PostgreSQL all of this is one message.
        """
        d = dialect()
        left, look = [reserve.give_back(d), slots.release(d)], sticky.who_has_work(d)
        rows = execute_in_turn(
            [left, in_index_order(d, look)], {**self.key, "queue_id": self.queue_id}
        ).rows
        return [station for (station,) in rows]

    @property
    def key(self) -> dict[str, int]:
        """The parameters by which statements identify this hold of the slot."""
        return {"slot_id": self.id, "epoch": self.epoch}

    def lost(self) -> LeaseLost:
        return LeaseLost(f"slot {self.number} of queue {self.queue} is no longer ours")


def acquire(queue: str, number: int, holder: str) -> HeldSlot | None:
    """Take a slot; None when it is taken or above the limit, or its queue is paused or gone.

    Then its bell is taken back, so that whoever resumes the queue from now on rings again. Whoever
    resumed it a moment ago did not ring, so we try once more.
    """
    taken = _acquire_or_unring(queue, number, holder, [], 0)
    return None if taken is None else taken[0]


def acquire_with_jobs(
    queue: str, number: int, holder: str, count: int
) -> tuple[HeldSlot, list[Row]] | None:
    """Do the same and reserve jobs for the slot, on PostgreSQL in one message; return their rows.

    They are as `queues.sql.reserve.RESERVED` names them, for `reservation.reserve`.
    """
    d = dialect()
    further = in_index_order(d, reserve.reserve_taken(d))
    return _acquire_or_unring(queue, number, holder, further, count)


def _acquire_or_unring(
    queue: str, number: int, holder: str, further: list[str], count: int
) -> tuple[HeldSlot, list[Row]] | None:
    taken = _acquire(queue, number, holder, further, count)
    if taken is None and _unring(queue, number):
        taken = _acquire(queue, number, holder, further, count)
    return taken


def _acquire(
    queue: str, number: int, holder: str, further: list[str], count: int
) -> tuple[HeldSlot, list[Row]] | None:
    key, asked_at = secrets.token_hex(16), time.monotonic()
    asked = {"queue": queue, "number": number, "holder": holder, "notes_key": key, "jobs": count}
    asked["lease_seconds"] = lease_seconds()
    taken, *others = execute_each_in_turn([[slots.acquire(dialect()), *further]], asked)
    if taken.first is None:
        return None
    slot_id, epoch, queue_id, has_flow = taken.first
    given = (slot_id, epoch, queue_id, queue, number, holder, key, bool(has_flow), asked_at)
    return HeldSlot(*given), others[-1].rows if others else []


def _unring(queue: str, number: int) -> bool:
    return execute(slots.UNRING, {"queue": queue, "number": number}).count == 1


def lease_seconds() -> float:
    return settings.ATRIBUTO.worker_lease_ms / 1000
