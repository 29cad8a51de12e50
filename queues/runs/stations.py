"""What a worker of an instance does: its own sticky jobs, and those that any worker may run."""

import random

from atributo_site.core.database import dialect, execute
from queues.runs.doorbell import ring
from queues.runs.reservation import Batch, reserved
from queues.runs.slots import HeldSlot, has_due
from queues.sql import sticky


def reserve_at(station: str, slot: HeldSlot, count: int, *, shared: bool) -> Batch | None:
    """Reserve as `reserve` does, sticky jobs only while their key is allocated to this instance."""
    statement = sticky.reserve(dialect(), shared)
    return reserved(slot, statement, count, station=station)


def free_slots_at(station: str, *, shared: bool) -> list[tuple[str, int]]:
    """Return a free slot of each active queue with work for this station: queue and number."""
    return execute(sticky.free_slots(dialect(), shared), {"station": station}).rows


def call_all(slot: HeldSlot, *, leftover: bool = True) -> None:
    """Ring for what is left of a queue."""
    ring_queue(slot.queue_id, slot.queue, leftover=leftover)


def ring_queue(queue_id: int, queue: str, jobs: int = 1, *, leftover: bool = False) -> None:
    """Ring for any worker and for stations, as far as this queue has work for them."""
    if has_due(queue_id):
        ring(queue_id, queue, jobs, leftover=leftover)
    waiting = stations_with_work(queue_id)
    random.shuffle(waiting)  # one slot, many stations: each has its turn
    for station in waiting:
        ring(queue_id, queue, station=station, leftover=leftover)


def stations_with_work(queue_id: int) -> list[str]:
    statement = sticky.calls(dialect(), "q.id = %(queue_id)s")
    return [station for _, _, station in execute(statement, {"queue_id": queue_id}).rows]


def ring_stations() -> None:
    """Ring for every queue with due jobs of a station that is served."""
    for queue_id, queue, station in execute(sticky.calls(dialect()), {}).rows:
        ring(queue_id, queue, station=station)
