"""A journal as people read it: each line with the key, and what it was and became."""

from dataclasses import dataclass
from typing import Any

from allocation.logic.diff import MISSING
from allocation.logic.undo import Restore, plan
from allocation.transactions.models import Document as Row
from allocation.transactions.models import DocumentVersion, JournalEntry
from atributo_site.console.changes import Changes, changes

MOST_PREVIEWED = 500


@dataclass(frozen=True)
class Written:
    """One line of the journal; `changes` is None when its version is not kept any more."""

    entry: JournalEntry
    changes: Changes | None


@dataclass(frozen=True)
class Undone:
    """What rolling back would do to one key, and what completing would leave there."""

    document: Row
    restored: bool
    back: Changes
    kept: Changes


def written(entries: list[JournalEntry]) -> list[Written]:
    """Two queries for any number of lines: the versions carry what the journal does not."""
    versions = _versions(entries)
    return [Written(entry, _changes(entry, versions)) for entry in entries]


def undo_preview(transaction: int) -> list[Undone] | None:
    """What each key gets back; None for a journal too long to be shown."""
    journal = JournalEntry.objects.filter(transaction=transaction)
    entries = list(journal.not_undone().order_by("id")[: MOST_PREVIEWED + 1])
    if len(entries) > MOST_PREVIEWED:
        return None
    restores = plan(entry.write() for entry in entries)
    documents = Row.objects.in_bulk([restore.key for restore in restores])
    return [
        _undone(document, restore)
        for restore in restores
        if (document := documents.get(restore.key)) is not None
    ]


def _undone(document: Row, restore: Restore) -> Undone:
    now = _image(document.present, document.value)
    then = _image(restore.image.present, restore.image.value)
    restored = document.ref == restore.expected_ref
    return Undone(document, restored, back=changes(now, then), kept=changes(then, now))


def _versions(entries: list[JournalEntry]) -> dict[tuple[int, str], DocumentVersion]:
    found = DocumentVersion.objects.filter(
        document__in={entry.document_id for entry in entries},
        ref__in={entry.after_ref for entry in entries},
    )
    return {(version.document_id, version.ref): version for version in found}


def _changes(
    entry: JournalEntry, versions: dict[tuple[int, str], DocumentVersion]
) -> Changes | None:
    before = _image(entry.before_present, entry.before_value)
    if entry.action == JournalEntry.Action.DELETE:
        return changes(before, MISSING)
    version = versions.get((entry.document_id, entry.after_ref))
    return None if version is None else changes(before, _image(version.present, version.value))


def _image(present: bool, value: Any) -> Any:
    return value if present else MISSING
