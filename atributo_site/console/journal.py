"""A journal for people: each write with what it changed."""

from typing import Any

from allocation.logic.diff import NOTHING, diff
from allocation.logic.secrets import masked
from allocation.transactions.models import DocumentVersion, JournalEntry


def journal(entries: list[JournalEntry]) -> list[dict[str, Any]]:
    """The entries with their differences; the values after come by one query."""
    refs = {entry.after_ref for entry in entries}
    keys = {entry.document_id for entry in entries}
    versions = DocumentVersion.objects.filter(document__in=keys, ref__in=refs)
    after = {(version.document_id, version.ref): version for version in versions}
    return [_shown(entry, after.get((entry.document_id, entry.after_ref))) for entry in entries]


def _shown(entry: JournalEntry, version: DocumentVersion | None) -> dict[str, Any]:
    before = masked(entry.before_value) if entry.before_present else NOTHING
    after = masked(version.value) if version is not None and version.present else NOTHING
    known = version is not None or entry.action == JournalEntry.Action.DELETE
    return {"entry": entry, "lines": diff(before, after) if known else None}


def history(versions: list[DocumentVersion]) -> list[dict[str, Any]]:
    """Versions, newest first, each with its difference to the one before it."""
    older = [*versions[1:], None]
    return [
        {"version": version, "lines": diff(_value(before), _value(version))}
        for version, before in zip(versions, older, strict=True)
    ]


def _value(version: DocumentVersion | None) -> Any:
    return masked(version.value) if version is not None and version.present else NOTHING
