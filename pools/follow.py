"""Follow names with the look-up tool: what each look-up changed, kept by whoever follows."""

import secrets
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from allocation.errors import AtributoError
from pools.look_up import look_up
from pools.permitted import default_floor_ms

MOST_CHANGES = 50
MOST_NAMES = 5


def begin(wishes: dict[str, Any]) -> dict[str, Any]:
    """A story is plain JSON, so that a session can hold it."""
    return {
        "key": secrets.token_hex(4),
        "wishes": wishes,
        "asked_at": None,
        "found": None,
        "seen": {},
        "changes": [],
        "error": "",
    }


def with_another(stories: list[dict[str, Any]], story: dict[str, Any]) -> list[dict[str, Any]]:
    """The newest first; the same wishes are followed once, and the oldest make room."""
    others = [each for each in stories if each["wishes"] != story["wishes"]]
    return [story, *others][:MOST_NAMES]


def go_on_with_one(stories: list[dict[str, Any]], now: datetime) -> list[dict[str, Any]]:
    """Only the one that was asked longest ago: several slow ones would add up."""
    if not stories:
        return []
    oldest = min(stories, key=lambda story: story["asked_at"] or "")
    return [_told(story, now) if story is oldest else story for story in stories]


def _told(story: dict[str, Any], now: datetime) -> dict[str, Any]:
    """A refusal is part of the story, and the others have their turn."""
    try:
        return go_on({**story, "error": ""}, now)
    except AtributoError as refused:
        return {**story, "asked_at": now.isoformat(), "error": str(refused)}


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
