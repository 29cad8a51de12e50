"""Undo many keys of many transactions, inside a database transaction of the caller.

Each statement undoes the keys of many lines, however many they are; rows are given as arrays in
JSON. One database transaction per key, by the ORM, restored 320 keys per second on SQLite and 220
on PostgreSQL, and a sweep of the curator 65 to 85 transactions.
"""

import json
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from allocation.transactions.logic.damage import NO_VERSION, Evidence, damage
from allocation.transactions.logic.undo import Image, Restore, Write, plan
from allocation.transactions.models import Document, JournalEntry
from atributo_site.core.database import Dialect, Row, dialect, execute
from atributo_site.core.failpoints import failpoint

Fence = tuple[int, int]  # a transaction and its epoch
LINE = ("transaction", "document", "before_present", "before_ref", "after_ref", "id")
HOLD = """
UPDATE allocation_transaction AS t SET expires_at = {until}
FROM {fences} AS w
WHERE t.id = w.txn AND t.epoch = w.epoch AND t.status = 'rolling_back' AND t.finished_at IS NULL
RETURNING id"""
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
HIDE = """
UPDATE allocation_documentversion AS v SET undone = true
FROM (
    SELECT j.document_id, j.after_ref, j.transaction_id
    FROM {marks} AS w JOIN allocation_journalentry j ON j.id = w.line
) AS written
WHERE v.document_id = written.document_id AND v.ref = written.after_ref
    AND v.transaction_id = written.transaction_id"""
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
STANDING = """
SELECT l.transaction_id, d.id, d.collection, d."key"
FROM {fences} AS w
JOIN allocation_lock l ON l.transaction_id = w.txn
JOIN allocation_document d ON d.id = l.document_id
JOIN allocation_documentversion v
    ON v.document_id = d.id AND v.ref = d.ref AND v.transaction_id = w.txn"""


class Task(NamedTuple):
    """One key that a transaction gets back."""

    txn: int
    restore: Restore

    @property
    def row(self) -> list[Any]:
        restore = self.restore
        return [restore.line, restore.key, restore.expected_ref, self.txn]


class Examined(NamedTuple):
    task: Task
    name: str  # of the document
    damage: str
    is_known: bool  # the version that it gets back is in the history


def plans(transactions: Iterable[int]) -> dict[int, list[Restore]]:
    """Return what is left to restore of each, so that a resumed roll back goes on."""
    wanted: dict[int, list[Write]] = {txn: [] for txn in transactions}
    lines = JournalEntry.objects.filter(transaction__in=list(wanted)).not_undone().order_by("id")
    for txn, key, present, ref, after_ref, line in lines.values_list(*LINE):
        wanted[txn].append(Write(key, Image(present, None, ref), after_ref, line))
    return {txn: plan(writes) for txn, writes in wanted.items()}


def hold(fences: Sequence[Fence], seconds: float) -> set[int]:
    """Keep the claims for so many seconds; return the transactions that are still claimed."""
    facts = {"fences": json.dumps(fences), "seconds": seconds}
    return {pk for (pk,) in execute(_sql().hold, facts).rows}


def locked(tasks: Sequence[Task], wait: bool) -> list[Task]:
    """Lock the documents; without waiting, only those that nobody is writing at this moment.

    A document that does not exist counts as locked.
    """
    statement = _sql().lock if wait else _sql().lock_free
    if not statement or not tasks:
        return list(tasks)
    held = {pk for (pk,) in execute(statement, _keys(tasks)).rows}
    if wait or len(held) == len(tasks):
        return list(tasks)
    there = Document.objects.filter(pk__in=[task.restore.key for task in tasks])
    busy = set(there.values_list("pk", flat=True)) - held
    return [task for task in tasks if task.restore.key not in busy]


def examined(tasks: Sequence[Task]) -> list[Examined]:
    """Read what the journal, the documents and the history say, and compare."""
    known = {(row[0], row[1]): row for row in execute(_sql().examine, _keys(tasks)).rows}
    return [_examined(task, known[task.restore.line, task.restore.key]) for task in tasks]


def restore(sound: Sequence[Examined]) -> None:
    """Restore keys unless somebody else wrote them since, and mark their lines."""
    if not sound:
        return
    tasks = [each.task for each in sound]
    restored = {pk for (pk,) in execute(_sql().restore, _keys(tasks)).rows}
    failpoint("undo.after_document")
    marks = [_mark(line, task, restored) for task in tasks for line in task.restore.lines]
    execute(_sql().hide, {"marks": json.dumps(marks)})
    if back := [each.task for each in sound if _is_unknown(each, restored)]:
        execute(_sql().keep, _keys(back))
    failpoint("undo.after_restore")
    execute(_sql().mark, {"marks": json.dumps(marks)})
    failpoint("undo.after_mark")


def still_standing(fences: Sequence[Fence]) -> dict[int, str]:
    """Return the transactions of which a write stands though no line of a journal names it."""
    rows = execute(_sql().standing, {"fences": json.dumps(fences)}).rows
    return {
        txn: f"{collection}/{key}"
        for txn, document, collection, key in rows
        if not _is_restored(txn, document)
    }


def _is_restored(txn: int, document: int) -> bool:
    """Return whether an older release restored it, under a ref of the transaction's own."""
    lines = JournalEntry.objects.filter(transaction=txn, document=document)
    return lines.filter(undo=JournalEntry.Undo.RESTORED).exists()


def _sql() -> "Statements":
    return statements(dialect())


def _keys(tasks: Sequence[Task]) -> dict[str, str]:
    return {"keys": json.dumps([task.row for task in tasks])}


def _mark(line: int, task: Task, restored: set[int]) -> tuple[int, str]:
    was_restored = task.restore.key in restored
    return line, JournalEntry.Undo.RESTORED if was_restored else JournalEntry.Undo.LEFT_ALONE


def _is_unknown(each: Examined, restored: set[int]) -> bool:
    """Return whether a value stands again that is not in the history."""
    restore = each.task.restore
    return restore.image.present and not each.is_known and restore.key in restored


def _examined(task: Task, row: Row) -> Examined:
    _, document, collection, key, hidden, *facts = row
    line = Evidence._make([*facts, task.restore.line == task.restore.lines[0]])
    name = f"document {document}" if line.document is None else f"{collection}/{key}"
    return Examined(task, name, damage(line), is_known=not hidden)


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

# All in the order of their numbers, so that two that lock several never wait for each other.


# The image has its ref back, too: for who saw it before the transaction nothing has happened.

# Every ref that the lines name; a search by document would read its whole history.

# What stands is in the history, also if retention removed it or it was undone once before.


# Keys that a transaction holds and that still have a version which it wrote.
