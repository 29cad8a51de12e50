"""Describe what a dry run did: for each document what it was and became, and what it pushed."""

from typing import Any

from allocation.transactions.models import DocumentVersion, JournalEntry
from atributo_site.core.redaction import masked
from queues.worker.script_follower import ScriptResult

MOST_LINES = 500


def dry_run_as_dict(result: ScriptResult) -> dict[str, Any]:
    """Return what a script would have done."""
    pushes = [{**push, "data": masked(push["data"])} for push in result.pushes]
    return {"result": result.result, "changes": effects(result.transactions), "pushes": pushes}


def effects(transactions: list[int]) -> list[dict[str, Any]]:
    """Return one line per key, in the order of the first write; null: it did not exist."""
    lines = JournalEntry.objects.filter(transaction__in=transactions).select_related("document")
    by_document: dict[int, dict[str, Any]] = {}
    for entry in lines.order_by("id")[:MOST_LINES]:
        line = by_document.setdefault(entry.document_id, _first(entry))
        line["action"], line["after"] = entry.action, _written(entry)
    return list(by_document.values())


def _first(entry: JournalEntry) -> dict[str, Any]:
    document = entry.document
    before = masked(entry.before_value) if entry.before_present else None
    return {"collection": document.collection, "key": document.key, "before": before}


def _written(entry: JournalEntry) -> Any:
    versions = DocumentVersion.objects.filter(document=entry.document_id, ref=entry.after_ref)
    return masked(versions.values_list("value", flat=True).first())
