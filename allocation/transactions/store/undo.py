"""Undo many keys of many transactions, inside a database transaction of the caller."""

import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from allocation.transactions.logic.damage import Evidence, damage
from allocation.transactions.logic.undo import Image, Restore, Write, plan
from allocation.transactions.models import Document, JournalEntry
from allocation.transactions.store.undo_sql import Statements, statements
from atributo_site.core.database import Row, dialect, execute
from atributo_site.core.failpoints import failpoint

Fence = tuple[int, int]  # a transaction and its epoch
LINE = ("transaction", "document", "before_present", "before_ref", "after_ref", "id")


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


def _sql() -> Statements:
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
