"""The statements of a line of waiting transactions; those who wait only read.

A wait that tried to lock the key each time kept the holder from writing on SQLite, and cost the
processor twenty times as much as this.
"""

from functools import lru_cache

from atributo_site.core.database import Dialect

HERE = 'd.collection = %(collection)s AND d."key" = %(key)s'
ALIVE = "t.status = 'active' AND t.expires_at > {clock}"
CANNOT_SHARE = "(%(mode)s = 'exclusive' OR {other}.mode = 'exclusive')"


@lru_cache(maxsize=8)
def others(d: Dialect) -> str:
    """Find somebody who waits for the key and cannot share it, unless the caller holds it."""
    return f"""
SELECT w.id FROM allocation_document d
JOIN allocation_lockwait w ON w.document_id = d.id
JOIN allocation_transaction t ON t.id = w.transaction_id
WHERE {HERE} AND w.transaction_id <> %(txn)s AND {ALIVE.format(clock=d.clock)}
    AND {CANNOT_SHARE.format(other="w")} AND NOT EXISTS (
        SELECT 1 FROM allocation_lock l WHERE l.document_id = d.id AND l.transaction_id = %(txn)s)
LIMIT 1"""  # nosec B608 # of constants and dialect


@lru_cache(maxsize=8)
def announce(d: Dialect) -> str:
    """Stand at the end of the line."""
    return f"""
INSERT INTO allocation_lockwait (document_id, transaction_id, mode, since)
SELECT d.id, CAST(%(txn)s AS bigint), CAST(%(mode)s AS varchar), {d.clock}
FROM allocation_document d WHERE {HERE}
ON CONFLICT (transaction_id) DO UPDATE
SET document_id = excluded.document_id, mode = excluded.mode, since = excluded.since
RETURNING id"""  # nosec B608 # of constants and dialect


@lru_cache(maxsize=8)
def look(d: Dialect) -> str:
    """Count who is ahead; is the key taken, the caller's time over, and does it hold any key?

    A caller that holds the key and wants more of it queues behind nobody.
    """
    alive = ALIVE.format(clock=d.clock)
    return f"""
SELECT
    (SELECT count(*) FROM allocation_lockwait w
        JOIN allocation_transaction t ON t.id = w.transaction_id
        WHERE w.document_id = mine.document_id AND w.id < mine.id AND {alive}
            AND {CANNOT_SHARE.format(other="w")} AND NOT EXISTS (
                SELECT 1 FROM allocation_lock l
                WHERE l.document_id = mine.document_id AND l.transaction_id = %(txn)s)),
    EXISTS (SELECT 1 FROM allocation_lock l
        WHERE l.document_id = mine.document_id AND l.transaction_id <> %(txn)s
            AND {CANNOT_SHARE.format(other="l")})
    OR EXISTS (SELECT 1 FROM allocation_document d
        WHERE d.id = mine.document_id AND d.lock_delayed_until > {d.clock}),
    NOT EXISTS (SELECT 1 FROM allocation_transaction t WHERE t.id = %(txn)s AND {alive}),
    EXISTS (SELECT 1 FROM allocation_lock l WHERE l.transaction_id = %(txn)s)
FROM allocation_lockwait mine WHERE mine.id = %(wait)s"""  # nosec B608 # of constants and dialect
