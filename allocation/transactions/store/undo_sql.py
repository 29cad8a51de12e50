"""The statements of a roll back: each undoes the keys of many lines, however many they are.

One database transaction per key, by the ORM, restored 320 keys per second on SQLite and 220 on
PostgreSQL, and a sweep of the curator 65 to 85 transactions. Rows are given as arrays in JSON.
"""

from functools import lru_cache
from typing import NamedTuple

from allocation.transactions.logic.damage import NO_VERSION
from atributo_site.core.database import Dialect


class Statements(NamedTuple):
    hold: str
    lock: str  # empty where no row can be locked
    lock_free: str
    examine: str
    restore: str
    hide: str
    keep: str
    mark: str
    standing: str


@lru_cache(maxsize=8)
def statements(d: Dialect) -> Statements:
    keys = d.rows("keys", line="bigint", document="bigint", expected="text", txn="bigint")
    words = {
        "clock": d.clock,
        "fences": d.rows("fences", txn="bigint", epoch="bigint"),
        "keys": keys,
        "marks": d.rows("marks", line="bigint", undo="text"),
        "until": d.in_seconds("seconds", since="clock"),
        "stored": d.bytes_of("j.before_value"),
        "lock_row": d.lock_row,
        "no_version": NO_VERSION,
    }
    lock, lock_free = (LOCK, f"{LOCK} SKIP LOCKED") if d.lock_row else ("", "")
    texts = [HOLD, lock, lock_free, EXAMINE, RESTORE, HIDE, KEEP, MARK, STANDING]
    return Statements(*(text.format(**words) for text in texts))


# Nobody else claims these transactions before this database transaction commits.
HOLD = """
UPDATE allocation_transaction AS t SET expires_at = {until}
FROM {fences} AS w
WHERE t.id = w.txn AND t.epoch = w.epoch AND t.status = 'rolling_back' AND t.finished_at IS NULL
RETURNING id"""

# All in the order of their numbers, so that two that lock several never wait for each other.
LOCK = """
SELECT d.id FROM {keys} AS w JOIN allocation_document d ON d.id = w.document
ORDER BY d.id {lock_row} OF d"""

EXAMINE = """
SELECT w.line, w.document, d.collection, d."key", COALESCE(vb.undone, true),
    w.txn, j.action, j.before_present, j.before_ref, {stored}, w.expected, d.id, d.ref,
    CASE WHEN vb.id IS NULL THEN {no_version} ELSE vb.transaction_id END,
    CASE WHEN ve.id IS NULL THEN {no_version} ELSE ve.transaction_id END,
    CASE WHEN vp.id IS NULL THEN {no_version} ELSE vp.transaction_id END
FROM {keys} AS w
LEFT JOIN allocation_journalentry j ON j.id = w.line
LEFT JOIN allocation_document d ON d.id = w.document
LEFT JOIN allocation_documentversion vb
    ON vb.document_id = w.document AND vb.ref = j.before_ref
LEFT JOIN allocation_documentversion ve
    ON ve.document_id = w.document AND ve.ref = w.expected
LEFT JOIN allocation_documentversion vp
    ON vp.document_id = d.id AND vp.ref = d.ref"""

# The image has its ref back, too: for who saw it before the transaction nothing has happened.
RESTORE = """
UPDATE allocation_document AS d
SET present = image.before_present, value = image.before_value, ref = image.before_ref,
    updated_at = {clock}
FROM (
    SELECT w.document, w.expected, j.before_present, j.before_value, j.before_ref
    FROM {keys} AS w JOIN allocation_journalentry j ON j.id = w.line
) AS image
WHERE d.id = image.document AND d.ref = image.expected
RETURNING id"""

# Every ref that the lines name; a search by document would read its whole history.
HIDE = """
UPDATE allocation_documentversion AS v SET undone = true
FROM (
    SELECT j.document_id, j.after_ref, j.transaction_id
    FROM {marks} AS w JOIN allocation_journalentry j ON j.id = w.line
) AS written
WHERE v.document_id = written.document_id AND v.ref = written.after_ref
    AND v.transaction_id = written.transaction_id"""

# What stands is in the history, also if retention removed it or it was undone once before.
KEEP = """
INSERT INTO allocation_documentversion
    (document_id, ref, present, value, transaction_id, undone, at)
SELECT d.id, d.ref, d.present, d.value, NULL, false, {clock}
FROM {keys} AS w JOIN allocation_document d ON d.id = w.document
WHERE d.present AND d.ref <> w.expected
ON CONFLICT (document_id, ref) DO UPDATE SET undone = false"""

MARK = """
UPDATE allocation_journalentry AS j SET undo = w.undo
FROM {marks} AS w WHERE j.id = w.line"""

# Keys that a transaction holds and that still have a version which it wrote.
STANDING = """
SELECT l.transaction_id, d.id, d.collection, d."key"
FROM {fences} AS w
JOIN allocation_lock l ON l.transaction_id = w.txn
JOIN allocation_document d ON d.id = l.document_id
JOIN allocation_documentversion v
    ON v.document_id = d.id AND v.ref = d.ref AND v.transaction_id = w.txn"""
