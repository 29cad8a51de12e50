"""Record what happens, and read it back in an order that loses nothing."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from atributo_site.core.models import Event
from atributo_site.core.models.event import stored_subject
from atributo_site.core.redaction import masked


@dataclass(frozen=True)
class Actor:
    """Who acts, and through which door."""

    name: str
    channel: str = Event.Channel.PROCESS
    request_id: str = ""


SYSTEM = Actor("system")
_actor: ContextVar[Actor] = ContextVar("actor", default=SYSTEM)


@contextmanager
def acting(actor: Actor) -> Iterator[None]:
    """Everything recorded inside carries this actor."""
    reset = _actor.set(actor)
    try:
        yield
    finally:
        _actor.reset(reset)


def current_actor() -> Actor:
    return _actor.get()


def record(kind: str, subject: str, *, using: str = "default", **facts: Any) -> Event:
    """Write one event, in the caller's database transaction if there is one."""
    event = _event(kind, subject, facts)
    event.save(using=using, force_insert=True)
    return event


def record_many(
    drafts: Iterable[tuple[str, str, dict[str, Any]]], *, using: str = "default"
) -> None:
    """Events given as kind, subject and facts, written with one statement."""
    events = [_event(kind, subject, facts) for kind, subject, facts in drafts]
    Event.objects.using(using).bulk_create(events)


def _event(kind: str, subject: str, facts: dict[str, Any]) -> Event:
    actor = current_actor()
    return Event(
        kind=kind,
        subject=stored_subject(subject),
        actor=actor.name,
        channel=actor.channel,
        request_id=actor.request_id,
        facts=masked(facts),
    )
