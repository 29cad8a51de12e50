"""Find the page about the subject of an event."""

from datetime import datetime, timedelta
from urllib.parse import urlencode

from atributo_site.console.base.navigation import address

# The noun of a subject is the URL name of its screen.
SCREENS = {"instance", "allocation", "queue", "job", "operation", "service", "incident"} | {
    "batch",
    "schedule",
    "transaction",
    "document",
    "collection",
    "pool",
    "backend",
}
NOUNS = (*SCREENS, "lease", "process", "user", "token")


def subject_url(subject: str) -> str:
    """Return the object's screen, or its events where it has none."""
    noun, _, name = subject.partition(":")
    # A document has two names; only one slash tells clearly where the first one ends.
    names = name.split("/") if noun == "document" else [name]
    screen = address(noun, *names) if noun in SCREENS and all(names) else None
    return screen or f"{address('events')}?{urlencode({'subject': subject})}"


def minute_url(at: datetime) -> str:
    """Return the address of all events of the minute that `at` is in."""
    since = at.replace(second=0, microsecond=0)
    period = {"since": since.isoformat(), "until": (since + timedelta(minutes=1)).isoformat()}
    return f"{address('events')}?{urlencode(period)}"
