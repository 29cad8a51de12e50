"""Which queues have work now."""

from queues import sql, station_sql
from queues.dialect import dialect
from queues.logic.ranks import RANKS
from queues.statements import hot_cursor


def has_due(queue_id: int, *, using: str = "default") -> bool:
    statement = f"SELECT 1 WHERE {sql.has_due(dialect(using), '%s')}"
    with hot_cursor(using) as cursor:
        cursor.execute(statement, [queue_id] * len(sql.SHARED_RANKS))
        return cursor.fetchone() is not None


def next_job(
    queue_id: int, priority: int, *, station: str = "", using: str = "default"
) -> int | None:
    """The next job of a queue, for any worker or at a station, of this priority or a higher one."""
    d = dialect(using)
    ranks = [rank for rank in RANKS if rank <= -priority]
    if station:
        probes, whose = [station_sql.probe(d, rank, "LIMIT 1") for rank in ranks], [station]
    else:
        probes, whose = [sql.due_probe(d, rank, "id", "LIMIT 1") for rank in ranks], []
    parts = (f"SELECT id FROM ({probe}) r{number}" for number, probe in enumerate(probes))
    with hot_cursor(using) as cursor:
        cursor.execute(f"{' UNION ALL '.join(parts)} LIMIT 1", [*whose, queue_id] * len(ranks))
        row = cursor.fetchone()
    return None if row is None else row[0]


def free_slots_with_work(*, using: str = "default") -> list[tuple[str, int]]:
    """One free slot of each active queue that has a due job: (queue, slot number)."""
    with hot_cursor(using) as cursor:
        cursor.execute(sql.free_slots(dialect(using)), [])
        return cursor.fetchall()


def queues_with_work(*, using: str = "default") -> list[tuple[int, str, int]]:
    """Active queues with a due job: (id, name, how many of them may be run at once)."""
    with hot_cursor(using) as cursor:
        cursor.execute(sql.queues_with_work(dialect(using)), [])
        return cursor.fetchall()
