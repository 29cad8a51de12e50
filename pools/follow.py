"""Follow a name with the look-up tool: what each look-up changed, kept by whoever follows."""

from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from pools.look_up import look_up
from pools.permitted import default_floor_ms

MOST_CHANGES = 50


def begin(wishes: dict[str, Any]) -> dict[str, Any]:
    """A story is plain JSON, so that a session can hold it."""
    return {"wishes": wishes, "asked_at": None, "found": None, "seen": {}, "changes": []}


def go_on(story: dict[str, Any], now: datetime) -> dict[str, Any]:
    """Look up again, unless that was done within the floor; a failure takes nothing away."""
    if not _is_due(story, now):
        return story
    found = asdict(look_up(**story["wishes"]))
    seen = {backend["key"]: _text(backend) for backend in found["backends"]}
    if found["state"] != "running":
        seen = story["seen"]
    new = [
        *_changes("removed", story["seen"], seen, now),
        *_changes("added", seen, story["seen"], now),
    ]
    changes = [*reversed(new), *story["changes"]][:MOST_CHANGES]
    return {**story, "asked_at": now.isoformat(), "found": found, "seen": seen, "changes": changes}


def _is_due(story: dict[str, Any], now: datetime) -> bool:
    if story["asked_at"] is None:
        return True
    floor = timedelta(milliseconds=default_floor_ms())
    return now - datetime.fromisoformat(story["asked_at"]) >= floor


def _changes(
    kind: str, one: dict[str, str], other: dict[str, str], now: datetime
) -> list[dict[str, str]]:
    """What is in the one and not in the other."""
    return [
        {"at": now.isoformat(), "kind": kind, "backend": text, "key": key}
        for key, text in one.items()
        if key not in other
    ]


def _text(backend: dict[str, Any]) -> str:
    return f"{backend['name']} {backend['address']} port {backend['port']}"
