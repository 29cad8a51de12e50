"""Record events, together with the actor and the request that caused them."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from atributo_site.core.after_commit import after_commit
from atributo_site.core.models import Event
from atributo_site.core.models.event import stored_subject
from atributo_site.core.redaction import masked


@dataclass(frozen=True)
class Actor:
    """Name who acts, and through which channel."""

    name: str
    channel: str = Event.Channel.PROCESS
    request_id: str = ""


class _Deeds:
    """What was recorded at one door, by one actor or by one inside another."""

    is_one_committed = False

    def count(self) -> None:
        self.is_one_committed = True


SYSTEM = Actor("system")
_actor: ContextVar[Actor] = ContextVar("actor", default=SYSTEM)
_deeds: ContextVar[_Deeds | None] = ContextVar("deeds", default=None)


@contextmanager
def acting(actor: Actor) -> Iterator[None]:
    """Give this actor to everything that is recorded inside."""
    reset = _actor.set(actor)
    deeds = _deeds.set(_deeds.get() or _Deeds())
    try:
        yield
    finally:
        _deeds.reset(deeds)
        _actor.reset(reset)


def has_done_something() -> bool:
    """Whether an event is committed since the door was entered, and so is its change."""
    deeds = _deeds.get()
    return deeds is not None and deeds.is_one_committed


def current_actor() -> Actor:
    return _actor.get()


def record(kind: str, subject: str, *, using: str = "default", **facts: Any) -> Event:
    """Write one event, in the caller's database transaction if there is one."""
    event = _event(kind, subject, facts)
    event.save(using=using, force_insert=True)
    _count(using)
    return event


def record_many(
    drafts: Iterable[tuple[str, str, dict[str, Any]]], *, using: str = "default"
) -> None:
    """Write events given as kind, subject and facts with one statement."""
    events = [_event(kind, subject, facts) for kind, subject, facts in drafts]
    Event.objects.using(using).bulk_create(events)
    _count(using)


def _count(using: str) -> None:
    deeds = _deeds.get()
    if deeds is not None and not deeds.is_one_committed:
        after_commit(deeds.count, using=using)


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
