"""The beginning of each job's data, for lists: without secrets, and nothing long is read."""

import json
from typing import Any

from django.db.models import Case, F, JSONField, OuterRef, Subquery, TextField, When
from django.db.models.functions import Cast, Length

from queues.models import QueuedJob, Script
from queues.shown import hidden

READ = 2_000  # characters; the page of the job shows what is longer
SHOWN = 80
LONG = "long, see its page"


def with_beginnings(jobs: Any) -> Any:
    """The same rows with their data, where it is short, and the schema that marks secrets."""
    script = Script.objects.filter(service__mount=OuterRef("mount"), name=OuterRef("script"))
    return jobs.annotate(
        data_size=Length(Cast("data", TextField())),
        short_data=Case(When(data_size__lte=READ, then=F("data")), output_field=JSONField()),
        script_schema=Subquery(script.values("schema")[:1]),
    )


def beginning(job: QueuedJob) -> str:
    """Of a job with its beginning, as a person would jot it down: to: ada, subject: Hello."""
    if (job.data_size or 0) > READ:  # type: ignore[attr-defined]
        return LONG
    data = hidden(job.short_data, job.script_schema)  # type: ignore[attr-defined]
    if isinstance(data, dict):
        said = ", ".join(f"{name}: {_value(value)}" for name, value in data.items())
    else:
        said = "" if data is None else _value(data)
    return said if len(said) <= SHOWN else f"{said[: SHOWN - 1]}…"


def _value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
