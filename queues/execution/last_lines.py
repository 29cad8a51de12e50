"""What a script's process wrote before it died, read by its worker: often the only reason."""

import json
from time import monotonic
from typing import Any

from django.db import DatabaseError

from atributo_site.core.errors import AtributoError
from queues.execution.execution import kept_line, secrets_of_run
from queues.execution.loader import Services
from queues.execution.output import Lines

MOST = 200
UNKNOWN = "what its process wrote last is not shown: its secrets are not known ({})"


def last_lines(work: dict[str, Any], written: bytes) -> list[dict[str, Any]]:
    """Return the log lines, the last ones if there are many, without the run's secrets."""
    try:
        data = None if work["data"] is None else json.loads(work["data"])
        secrets = secrets_of_run(work, Services(), data)
    except (AtributoError, DatabaseError) as error:
        return [_line(UNKNOWN.format(type(error).__name__))]
    kept: list[str] = []
    lines = Lines(lambda line, left_out: kept.append(kept_line(line, left_out, secrets)))
    lines.write(written.decode(errors="replace"))
    lines.end()
    if len(kept) > MOST:
        kept[:-MOST] = [f"{len(kept) - MOST:,} lines before these were cut"]
    return [_line(text) for text in kept]


def _line(text: str) -> dict[str, Any]:
    return {"t": "log", "level": "print", "text": text, "at": monotonic()}
