"""Which queues have work now."""

from queues import sql
from queues.dialect import dialect
from queues.statements import hot_cursor


def has_due(queue_id: int, *, using: str = "default") -> bool:
    statement = f"SELECT 1 WHERE {sql.has_due(dialect(using), '%s')}"
    with hot_cursor(using) as cursor:
        cursor.execute(statement, [queue_id] * len(sql.RANKS))
        return cursor.fetchone() is not None


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
