"""From the subject of an event to the page about it."""

from datetime import datetime, timedelta
from urllib.parse import urlencode

from atributo_site.console.base.navigation import address

# The noun before the colon → the screen of one such object, as soon as that exists.
NOUNS = {
    "instance": "instance",
    "allocation": "allocation",
    "queue": "queue",
    "job": "job",
    "operation": "operation",
    "service": "service",
    "transaction": "transaction",
    "document": "document",
    "collection": "collection",
    "pool": "pool",
    "backend": "backend",
    "lease": "",
    "process": "",
    "user": "",
    "token": "",
}


def subject_url(subject: str) -> str:
    """The object's screen; for things without one, their events."""
    noun, _, name = subject.partition(":")
    screen = NOUNS.get(noun)
    # A document has two names; which slash parts them is clear only where there is one.
    names = name.split("/") if noun == "document" else [name]
    found = address(screen, *names) if screen and all(names) else None
    return found or f"{address('events')}?{urlencode({'subject': subject})}"


def minute_url(at: datetime) -> str:
    """Everything that happened in the minute of a moment, in every room."""
    since = at.replace(second=0, microsecond=0)
    period = {"since": since.isoformat(), "until": (since + timedelta(minutes=1)).isoformat()}
    return f"{address('events')}?{urlencode(period)}"
