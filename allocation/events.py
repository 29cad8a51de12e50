"""Record what happens, and read it back in an order that loses nothing."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from allocation.logic.secrets import masked
from allocation.models import Event


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
    actor = current_actor()
    return Event.objects.using(using).create(
        kind=kind,
        subject=subject,
        actor=actor.name,
        channel=actor.channel,
        request_id=actor.request_id,
        facts=masked(facts),
    )


def record_many(
    kind: str, about: Iterable[tuple[str, dict[str, Any]]], *, using: str = "default", **facts: Any
) -> None:
    """One event for each subject with its own facts, beside those that all share."""
    actor = current_actor()
    rows = [
        Event(
            kind=kind,
            subject=subject,
            actor=actor.name,
            channel=actor.channel,
            request_id=actor.request_id,
            facts=masked({**facts, **own}),
        )
        for subject, own in about
    ]
    Event.objects.using(using).bulk_create(rows)
