"""What a worker of an instance does: its own sticky jobs, and those that any worker may run."""

import random

from django.db import connections

from queues import station_sql
from queues.dialect import dialect
from queues.due import has_due
from queues.reserved import Batch, reserved
from queues.ring import ring
from queues.slots import HeldSlot


def reserve_at(station: str, slot: HeldSlot, count: int, *, shared: bool) -> Batch | None:
    """As `reserve`; sticky jobs only while their key is allocated to this instance."""
    probes = station_sql.parameters(station, slot.queue_id, count, shared)
    return reserved(slot, station_sql.reserve(dialect(slot.using), shared), probes, count)


def free_slots_at(station: str, *, shared: bool, using: str = "default") -> list[tuple[str, int]]:
    """One free slot of each active queue with work for this station: (queue, slot number)."""
    with connections[using].cursor() as cursor:
        cursor.execute(
            station_sql.free_slots(dialect(using), shared), [station] * len(station_sql.RANKS)
        )
        return cursor.fetchall()


def call_all(slot: HeldSlot) -> None:
    """Call for what is left of a queue: any worker, or a station, whoever has work."""
    if has_due(slot.queue_id, using=slot.using):
        ring(slot.queue_id, slot.queue, using=slot.using)
    waiting = stations_with_work(slot.queue_id, slot.using)
    random.shuffle(waiting)  # one slot, many stations: each has its turn
    for station in waiting:
        ring(slot.queue_id, slot.queue, station=station, using=slot.using)


def stations_with_work(queue_id: int, using: str = "default") -> list[str]:
    with connections[using].cursor() as cursor:
        cursor.execute(station_sql.calls(dialect(using), "q.id = %s"), [queue_id])
        return [station for _, _, station in cursor.fetchall()]


def ring_stations(using: str = "default") -> None:
    """For every queue with due jobs of a station that is served."""
    with connections[using].cursor() as cursor:
        cursor.execute(station_sql.calls(dialect(using)), [])
        found = cursor.fetchall()
    for queue_id, queue, station in found:
        ring(queue_id, queue, station=station, using=using)
