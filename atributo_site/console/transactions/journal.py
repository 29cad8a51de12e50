"""Present journals, previews of a rollback, and changes between values, without secrets."""

import json
from dataclasses import dataclass
from typing import Any

from allocation.transactions.logic.diff import MISSING, Change, Path, diff
from allocation.transactions.logic.undo import Restore, plan
from allocation.transactions.models import Document, DocumentVersion, JournalEntry
from atributo_site.core.redaction import MASK, looks_secret, masked
from atributo_site.web.format import pretty_json

MOST_LINES = 100
LONGEST_TEXT = 2000
LONGEST_VALUE = 20_000
MOST_PREVIEWED = 500


@dataclass(frozen=True)
class Line:
    """`before` is None for what was added, `after` for what was removed."""

    path: str
    kind: str  # added, removed, changed
    before: str | None
    after: str | None


@dataclass(frozen=True)
class Changes:
    lines: list[Line]
    more: int  # lines that are left out


def changes(before: Any, after: Any) -> Changes:
    """Return the changes from one value to another; MISSING stands for no value."""
    changed = diff(before, after)
    return Changes([_line(change) for change in changed[:MOST_LINES]], len(changed[MOST_LINES:]))


def value_text(value: Any) -> tuple[str, int]:
    """Return the value as indented JSON without secrets, and how many characters are left out."""
    text = pretty_json(masked(value))
    return text[:LONGEST_VALUE], max(0, len(text) - LONGEST_VALUE)


def brief_value(value: Any, longest: int = 140) -> str:
    """Return the value on one line."""
    text = json.dumps(masked(value), ensure_ascii=False)
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def path_text(path: Path) -> str:
    """Return a path such as `tags[2].name`; empty for the whole value."""
    return "".join(map(_step, path)).removeprefix(".")


def _line(change: Change) -> Line:
    kinds = {change.before is MISSING: "added", change.after is MISSING: "removed"}
    return Line(
        path_text(change.path),
        kinds.get(True, "changed"),
        _masked_text(change.path, change.before),
        _masked_text(change.path, change.after),
    )


def _step(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if step.isidentifier() else f"[{json.dumps(step, ensure_ascii=False)}]"


def _masked_text(path: Path, value: Any) -> str | None:
    if value is MISSING:
        return None
    secret = any(isinstance(step, str) and looks_secret(step) for step in path)
    text = MASK if secret and value is not None else pretty_json(masked(value))
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}…"


@dataclass(frozen=True)
class Written:
    """One line of the journal; `changes` is None if its version was deleted."""

    entry: JournalEntry
    changes: Changes | None


@dataclass(frozen=True)
class Undone:
    """What rolling back would do to one key, and what completing would leave there."""

    document: Document
    restored: bool
    back: Changes
    kept: Changes


def written(entries: list[JournalEntry]) -> list[Written]:
    """Read the changes of journal lines from the versions, in two queries for all."""
    versions = _versions(entries)
    return [Written(entry, _changes(entry, versions)) for entry in entries]


def undo_preview(transaction: int) -> list[Undone] | None:
    """Return what each key would get back; None for a journal too long to show."""
    journal = JournalEntry.objects.filter(transaction=transaction)
    entries = list(journal.not_undone().order_by("id")[: MOST_PREVIEWED + 1])
    if len(entries) > MOST_PREVIEWED:
        return None
    restores = plan(entry.write() for entry in entries)
    documents = Document.objects.in_bulk([restore.key for restore in restores])
    return [
        _undone(document, restore)
        for restore in restores
        if (document := documents.get(restore.key)) is not None
    ]


def _undone(document: Document, restore: Restore) -> Undone:
    now = _image(document.present, document.value)
    then = _image(restore.image.present, restore.image.value)
    restored = document.ref == restore.expected_ref
    return Undone(document, restored, back=changes(now, then), kept=changes(then, now))


def _versions(entries: list[JournalEntry]) -> dict[tuple[int, str], DocumentVersion]:
    rows = DocumentVersion.objects.filter(
        document__in={entry.document_id for entry in entries},
        ref__in={entry.after_ref for entry in entries},
    )
    return {(version.document_id, version.ref): version for version in rows}


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
