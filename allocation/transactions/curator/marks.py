"""Marks that change with transactions, locks and documents: open pages look again then."""

from collections.abc import Hashable

from atributo_site.core.database import execute

MARKS = """
    SELECT count(*), max(id), sum(epoch), sum(attempts),
           (SELECT max(finished_at) FROM allocation_transaction WHERE finished_at IS NOT NULL),
           (SELECT count(*) FROM allocation_lock), (SELECT max(id) FROM allocation_lock),
           (SELECT count(*) FROM allocation_lockwait),
           (SELECT max(id) FROM allocation_documentversion)
    FROM allocation_transaction WHERE finished_at IS NULL"""


def marks() -> dict[str, Hashable]:
    """Return a value for each kind of subject; it differs after a change."""
    [row] = execute(MARKS, {}).rows
    return {"transaction": tuple(row[:5]), "lock": tuple(row[5:8]), "document": row[8]}
