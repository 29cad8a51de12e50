"""Jobs by many keys, each looked up by itself on both databases."""

import json
from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.db import connections
from django.db.models import BooleanField, Func


def one_of(jobs: Any, keys: Any) -> Any:
    """Those whose keys another query gives."""
    if connections[jobs.db].vendor == "postgresql":
        return jobs.filter(_OneOf("pk", ArraySubquery(keys)))
    return jobs.filter(pk__in=keys)


class _OneOf(Func):
    """As an array: PostgreSQL looks each key up, where it would join by a walk along the table."""

    template = "(%(expressions)s))"
    arg_joiner = " = ANY("
    output_field = BooleanField()


def with_keys(jobs: Any, keys: list[int]) -> Any:
    """Any number of keys as one parameter, where a list of them would be one for each."""
    if connections[jobs.db].vendor == "postgresql":
        return jobs.extra(where=["queues_queuedjob.id = ANY(%s)"], params=[keys])
    among = "queues_queuedjob.id IN (SELECT value FROM json_each(%s))"
    return jobs.extra(where=[among], params=[json.dumps(keys)])
