"""Write the text of an event stream, and choose the events that a listener wants."""

import json
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder

from atributo_site.core.models import Event

HEARTBEAT = b": beat\n\n"
MOST_TOPICS = 50
LONGEST_TOPIC = 320  # characters, as a subject


def frame(data: str, *, event: str = "", cursor: str = "") -> bytes:
    """Return one event of a stream; `data` is one line."""
    kind = f"event: {event}\n" if event else ""
    return f"{kind}{_id_line(cursor)}data: {data}\n\n".encode()


def opening(retry_ms: int, cursor: str) -> bytes:
    """Tell the client before the first event when and from where to reconnect."""
    return f"retry: {retry_ms}\n{_id_line(cursor)}\n".encode()


def moved(cursor: str) -> bytes:
    """Send the cursor without an event, so that a reconnect need not read so much."""
    return f"{_id_line(cursor)}\n".encode()


def as_json(event: Event) -> str:
    members: dict[str, Any] = {
        "id": event.pk,
        "at": event.at,
        "actor": event.actor,
        "channel": event.channel,
        "kind": event.kind,
        "subject": event.subject,
        "facts": event.shown_facts,
        "request_id": event.request_id,
    }
    return json.dumps(members, cls=DjangoJSONEncoder)


def topics_of(text: str) -> tuple[str, ...] | None:
    """Split `instance,queue:mail` into both; None if they are too many or too long."""
    topics = tuple(part.strip() for part in text.split(",") if part.strip())
    is_fine = len(topics) <= MOST_TOPICS and all(len(topic) <= LONGEST_TOPIC for topic in topics)
    return topics if is_fine else None


def concerns(topics: tuple[str, ...], subject: str) -> bool:
    """Match a subject: `queue` is every queue, `queue:mail` that one; no topics match all."""
    return not topics or any(
        subject == topic or subject.startswith(f"{topic}:") for topic in topics
    )


def _id_line(cursor: str) -> str:
    return f"id: {cursor}\n" if cursor else ""
