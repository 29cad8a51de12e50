"""What the curator asks twice a second before it does anything: is there any?

Each is a prepared statement that an index answers. The queries that find all of them are made by
the ORM, which costs several times as much, and are asked only then.
"""

from functools import cache

from atributo_site.core.database import Dialect

HELD_PUSH = "SELECT 1 FROM queues_heldpush LIMIT 1"
OPERATION = "SELECT 1 FROM queues_operation WHERE ended_at IS NULL LIMIT 1"
UNROUTED = """
    SELECT 1 FROM queues_queuedjob WHERE status = 'pending' AND slot_id IS NULL
    AND sticky_key IS NOT NULL AND routed_to IS NULL LIMIT 1"""
STRANDED = """
    SELECT 1 FROM queues_queuedjob j JOIN queues_slot s ON s.id = j.slot_id
    WHERE j.slot_id IS NOT NULL AND j.status = 'pending' AND j.slot_epoch <> s.epoch LIMIT 1"""


@cache
def expired_slot(d: Dialect) -> str:
    return f"SELECT 1 FROM queues_slot WHERE holder <> '' AND leased_until <= {d.now} LIMIT 1"  # nosec B608 # of constants and dialect


@cache
def station_away(d: Dialect, *, untold: bool = False) -> str:
    told = "AND NOT is_told" if untold else ""
    return f"SELECT 1 FROM queues_station WHERE served_until <= {d.now} {told} LIMIT 1"  # nosec B608 # of constants and dialect


@cache
def overdue(d: Dialect) -> str:
    return f"""
        SELECT 1 FROM queues_queuedjob WHERE status = 'pending' AND slot_id IS NULL
        AND expires_at IS NOT NULL AND expires_at <= {d.now} AND attempt = 0 LIMIT 1"""  # nosec B608 # of constants and dialect
