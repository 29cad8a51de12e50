"""What a worker of an instance does: its own sticky jobs, and those that any worker may run."""

import random

from atributo_site.core.database import dialect, execute
from queues.runs.doorbell import ring
from queues.runs.reservation import Batch, reserved, within_flow
from queues.runs.slots import HeldSlot
from queues.sql import sticky, work

ANYBODY = ""


def reserve_at(station: str, slot: HeldSlot, count: int, *, shared: bool) -> Batch | None:
    """Reserve as `reserve` does, sticky jobs only while their key is allocated to this instance."""
    statement = sticky.reserve(dialect(), shared)
    batch = reserved(slot, statement, count, station=station)
    stations = [ANYBODY, station] if shared else [station]
    return within_flow(slot, count, batch, station, stations)


def free_slots_at(station: str, *, shared: bool) -> list[tuple[str, int]]:
    """Return a free slot of each active queue with work for this station: queue and number."""
    return execute(work.free_slots_at(dialect(), shared), {"station": station}).rows


def call_all(slot: HeldSlot, *, leftover: bool = True) -> None:
    """Ring for what is left of a queue."""
    ring_queue(slot.queue_id, slot.queue, leftover=leftover)


def ring_queue(queue_id: int, queue: str, jobs: int = 1, *, leftover: bool = False) -> None:
    """Ring for any worker and for stations, as far as this queue has work for them."""
    rows = execute(sticky.who_has_work(dialect()), {"queue_id": queue_id}).rows
    ring_waiting(queue_id, queue, [station for (station,) in rows], jobs, leftover=leftover)


def ring_waiting(
    queue_id: int, queue: str, waiting: list[str], jobs: int = 1, *, leftover: bool = False
) -> None:
    """Ring for those for whom this queue has work."""
    if ANYBODY in waiting:
        ring(queue_id, queue, jobs, leftover=leftover)
    stations = [station for station in waiting if station != ANYBODY]
    random.shuffle(stations)  # one slot, many stations: each has its turn
    for station in stations:
        ring(queue_id, queue, station=station, leftover=leftover)


def ring_stations() -> None:
    """Ring for every queue with due jobs of a station that is served."""
    for queue_id, queue, station in execute(work.calls(dialect()), {}).rows:
        ring(queue_id, queue, station=station)
