"""A script's arguments: the same however it is invoked."""

import json
from typing import Any


def argv(data: Any) -> list[Any]:
    """A list is spread, nothing is no argument, anything else is the one argument."""
    if data is None:
        return []
    return list(data) if isinstance(data, list | tuple) else [data]


def of_callback(text: str | None) -> str:
    """Result, data and job, as JSON: the job's own data and result are stored once, told twice."""
    result, data, job = json.loads(text or "[null, null, {}]")
    return json.dumps([result, data, {**job, "data": data, "result": result}])
