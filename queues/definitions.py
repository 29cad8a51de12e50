"""What a push must know of its queue and script, kept in memory with the revision it is of."""

import json
from dataclasses import dataclass
from typing import Any

from allocation.busy import patiently
from queues import push_sql
from queues.errors import QueueNotFound
from queues.statements import hot_cursor

MOST_KNOWN = 1000


@dataclass(frozen=True, slots=True)
class Definition:
    """The script's part is empty while it is not installed."""

    queue_id: int
    schema: dict[str, Any] | None
    defaults: dict[str, Any]
    revision: int  # of the installed services


_known: dict[tuple[str, ...], Definition] = {}


def known(queue: str, mount: str, script: str, using: str) -> Definition:
    """May be out of date: the database compares the revision when it stores the job."""
    return _known.get((using, queue, mount, script)) or fresh(queue, mount, script, using)


def fresh(queue: str, mount: str, script: str, using: str) -> Definition:
    row = patiently(lambda: _row([mount, script, queue], using), using, repeatable=True)
    if row is None:
        raise QueueNotFound(f"Queue does not exist: {queue}", queue=queue)
    queue_id, schema, defaults, revision = row
    found = Definition(
        queue_id, json.loads(schema or "null"), json.loads(defaults or "{}"), revision
    )
    if len(_known) >= MOST_KNOWN:
        _known.clear()
    _known[using, queue, mount, script] = found
    return found


def _row(named: list[str], using: str) -> tuple[Any, ...] | None:
    with hot_cursor(using) as cursor:
        cursor.execute(push_sql.FIND_SCRIPT, named)
        return cursor.fetchone()
