"""Marks that change with jobs, queues and operations, so that open pages know when to look."""

from collections.abc import Hashable

from atributo_site.core.database import dialect, execute
from queues.sql import marks as sql


def marks() -> dict[str, Hashable]:
    """Return a value for each kind of subject; it differs after a change."""
    row = execute(sql.marks(dialect()), {"two_minutes_ago": -120}).rows[0]
    *jobs, running_operations, visited = row
    return {"job": tuple(jobs), "operation": (running_operations, visited)}
