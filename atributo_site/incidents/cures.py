"""Find the button that helps against an incident: its address, who may press it, what is sent."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from atributo_site.models import Incident
from atributo_site.permissions import may
from atributo_site.status.screens import screen_of


@dataclass(frozen=True)
class Way:
    """How the site does a verb: an address, and whether a press of the button does it at once."""

    address: Callable[[str], str]
    action: str  # of the permission
    is_done_at_once: bool = False


@dataclass(frozen=True)
class Button:
    label: str
    preview: str
    address: str
    is_done_at_once: bool = False  # else the address asks first, or leads to the cure
    is_look: bool = False  # nothing is known that would be safe to press
    values: dict[str, str] = field(default_factory=dict)


def _named(url_name: str, *more: str) -> Callable[[str], str]:
    return lambda name: reverse(f"atributo:{url_name}", args=[name, *more])


def _retry(fingerprint: str) -> str:
    asked = {"action": "retry", "scope": "all", "state": "failed", "fingerprint": fingerprint}
    return f"{reverse('atributo:jobs-bulk')}?{urlencode(asked)}"


WAYS = {
    "queue.resume": Way(_named("queue-resume"), "queue.operate", True),
    "queue.scale": Way(_named("queue-scale"), "queue.administer", True),
    "schedule.resume": Way(_named("schedule-resume"), "schedule.operate", True),
    "jobs.retry": Way(_retry, "job.operate"),
    "instance.open": Way(_named("instance"), "instance.view"),
    "instance.drain": Way(_named("instance-change", "drain"), "instance.operate", True),
    "instances.open": Way(lambda name: reverse("atributo:instances"), "instance.view"),
    "transaction.retry": Way(_named("transaction-retry"), "transaction.operate"),
    "lock.release": Way(_named("lock-release"), "lock.release"),
    "pool.look_up": Way(_named("pool-resolve"), "pool.operate", True),
}
LOOK = "Its page has the details."


def button_of(row: Incident, user: Any) -> Button:
    """Return what this user may press; whoever may not press anything may look."""
    cure, way = row.cure, WAYS.get(row.cure.get("does", ""))
    if way is None or row.resolved_at is not None or not may(user, way.action):
        return Button("View details", LOOK, screen_of(row.kind, row.subject), is_look=True)
    address = way.address(cure["name"])
    values = cure.get("values", {})
    return Button(cure["label"], cure["preview"], address, way.is_done_at_once, values=values)
