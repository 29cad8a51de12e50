"""What a worker of an instance does: its own sticky jobs, and those that any worker may run."""

import random

from atributo_site.core.database import dialect, execute
from queues.runs.doorbell import ring
from queues.runs.reservation import Batch, reserved
from queues.runs.slots import HeldSlot, has_due
from queues.sql import sticky


def reserve_at(station: str, slot: HeldSlot, count: int, *, shared: bool) -> Batch | None:
    """As `reserve`; sticky jobs only while their key is allocated to this instance."""
    statement = sticky.reserve(dialect(slot.using), shared)
    return reserved(slot, statement, count, station=station)


def free_slots_at(station: str, *, shared: bool, using: str = "default") -> list[tuple[str, int]]:
    """One free slot of each active queue with work for this station: (queue, slot number)."""
    return execute(sticky.free_slots(dialect(using), shared), {"station": station}, using).rows


def call_all(slot: HeldSlot, *, leftover: bool = True) -> None:
    """Call for what is left of a queue."""
    ring_queue(slot.queue_id, slot.queue, leftover=leftover, using=slot.using)


def ring_queue(
    queue_id: int, queue: str, jobs: int = 1, *, leftover: bool = False, using: str = "default"
) -> None:
    """Call any worker, or a station, whoever has work of this queue."""
    if has_due(queue_id, using=using):
        ring(queue_id, queue, jobs, leftover=leftover, using=using)
    waiting = stations_with_work(queue_id, using)
    random.shuffle(waiting)  # one slot, many stations: each has its turn
    for station in waiting:
        ring(queue_id, queue, station=station, leftover=leftover, using=using)


def stations_with_work(queue_id: int, using: str = "default") -> list[str]:
    statement = sticky.calls(dialect(using), "q.id = %(queue_id)s")
    return [station for _, _, station in execute(statement, {"queue_id": queue_id}, using).rows]


def ring_stations(using: str = "default") -> None:
    """For every queue with due jobs of a station that is served."""
    for queue_id, queue, station in execute(sticky.calls(dialect(using)), {}, using).rows:
        ring(queue_id, queue, station=station, using=using)
