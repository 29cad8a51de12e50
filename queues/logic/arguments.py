"""A script's arguments: the same however it is invoked."""

import json
from typing import Any


def argv(data: Any) -> list[Any]:
    """Spread a list, turn nothing into no argument, and anything else into the one argument."""
    if data is None:
        return []
    return list(data) if isinstance(data, list | tuple) else [data]


def of_callback(text: str | None) -> str:
    """Return result, data and job as JSON; data and result are stored once, and passed twice."""
    result, data, job = json.loads(text or "[null, null, {}]")
    return json.dumps([result, data, {**job, "data": data, "result": result}])
