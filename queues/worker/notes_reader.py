"""Read the notes that a dead worker left about the jobs that it held."""

import hmac
import json
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import structlog
from redis.exceptions import RedisError, ResponseError

from atributo_site.core.availability.outages import outages
from queues.children.messages import Nonsense, understood
from queues.runs.doorbell import client
from queues.runs.notes import CODE_SIZE, LARGEST_NOTES, code_of, name_of

MOST_BYTES = 16 * LARGEST_NOTES  # more is not ours
log = structlog.get_logger(__name__)
NOT_FORGOTTEN = "notes_not_forgotten"


@dataclass
class WorkerNotes:
    """By job and attempt: when it began, and the messages about it if it has ended."""

    now: datetime | None = None
    since: float = 0.0
    worker: str = ""
    begun: dict[tuple[int, int], float] = field(default_factory=dict)
    messages: dict[tuple[int, int], list[dict[str, Any]]] = field(default_factory=dict)

    def moment(self, monotonic: float) -> datetime:
        assert self.now is not None
        return self.now + timedelta(seconds=monotonic - self.since)

    def add(self, note: dict[str, Any]) -> None:
        if "clock" in note:
            moment, self.since = note["clock"]
            self.now, self.worker = datetime.fromisoformat(moment), note["worker"]
        if "ended" in note:
            job, attempt = note["ended"]
            if _are_understood(note["said"]):
                self.messages[job, attempt] = note["said"]
        if "begins" in note:
            job, attempt, begun = note["begins"]
            self.begun[job, attempt] = begun


def read(key: str) -> WorkerNotes:
    """Read what carries the code of this key; RedisError when Redis does not answer."""
    notes = WorkerNotes()
    for element in _elements(name_of(key)) if key else []:
        note = _opened(bytes.fromhex(key), element)
        if note is not None:
            notes.add(note)
    return notes if notes.now is not None else WorkerNotes()


def forget(*keys: str) -> None:
    """Delete the notes once they are recorded; without Redis they expire."""
    try:
        client().delete(*map(name_of, keys))
    except RedisError as error:
        outages.warn(NOT_FORGOTTEN, error)
    else:
        outages.succeeded(NOT_FORGOTTEN)


def is_reachable() -> bool:
    try:
        return bool(client().ping())
    except RedisError:
        return False


def _are_understood(messages: list[dict[str, Any]]) -> bool:
    """Check them as a living worker does: a script may have made its process send anything."""
    try:
        return all(understood(json.dumps(message).encode()) for message in messages)
    except Nonsense as error:
        log.warning("nonsense_noted", error=str(error))
        return False


def _elements(name: str) -> list[Any]:
    redis = client()
    try:
        size: Any = redis.memory_usage(name, samples=0)
        return redis.lrange(name, 0, -1) if (size or 0) <= MOST_BYTES else []
    except ResponseError:  # it is no list, so it is not ours
        return []


def _opened(key: bytes, element: bytes) -> dict[str, Any] | None:
    code, data = element[:CODE_SIZE], element[CODE_SIZE:]
    if not hmac.compare_digest(code, code_of(key, data)):
        log.warning("forged_note", size=len(element))
        return None
    return json.loads(data)
