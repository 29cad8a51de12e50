"""The beginning of each job's data, for lists: without secrets, and nothing long is read."""

import json
from collections.abc import Sequence
from typing import Any

from django.db.models import Q, TextField
from django.db.models.functions import Cast, Length

from queues.models import QueuedJob
from queues.search import schemas_of
from queues.shown import hidden

READ = 2_000  # characters; the page of the job shows what is longer
SHOWN = 80
LONG = "long, see its page"


def beginnings(jobs: Sequence[QueuedJob]) -> dict[int, str]:
    """Job id → text, with two queries however many there are."""
    found = QueuedJob.objects.filter(pk__in=[job.pk for job in jobs])
    sized = found.annotate(size=Length(Cast("data", TextField())))
    short = sized.filter(Q(size__lte=READ) | Q(data__isnull=True))
    rows = list(short.values_list("pk", "mount", "script", "data"))
    schemas = schemas_of({(mount, script) for _, mount, script, _ in rows})
    texts = {
        pk: _text(hidden(data, schemas.get((mount, script)))) for pk, mount, script, data in rows
    }
    return {job.pk: texts.get(job.pk, LONG) for job in jobs}


def _text(data: Any) -> str:
    """As a person would jot it down: to: ada, subject: Hello."""
    if data is None:
        return ""
    if isinstance(data, dict):
        said = ", ".join(f"{name}: {_value(value)}" for name, value in data.items())
    else:
        said = _value(data)
    return said if len(said) <= SHOWN else f"{said[: SHOWN - 1]}…"


def _value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
