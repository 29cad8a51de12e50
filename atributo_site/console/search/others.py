"""Find screens, watched names, users and events."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.models import User
from django.db.models import Q
from django.urls import resolve

from atributo_site.console.base.navigation import address, navigation
from atributo_site.console.base.screen import TabbedScreen
from atributo_site.console.base.subjects import NOUNS, subject_url
from atributo_site.console.pools.list import PoolScreen
from atributo_site.console.search.hits import MOST_OF_A_KIND, Asked, Hit
from atributo_site.console.system.health import SystemScreen
from atributo_site.console.transactions.list import TransactionsScreen
from atributo_site.core.models import Event
from atributo_site.core.models.names import distinct_values, first, holding, newest
from atributo_site.permissions import may
from pools.models import Backend, Pool

MORE = {"Jobs › By error": "jobs-failures", "Allocations › Map": "allocations-map"}
TABBED = {"System": SystemScreen, "Pools & DNS": PoolScreen, "Transactions": TransactionsScreen}
MOST_KINDS = 300  # of events
KIND_OF_NOUN = {"queue": "Queues", "job": "Jobs", "service": "Services", "instance": "Instances"}
KIND_OF_NOUN |= {"allocation": "Keys", "transaction": "Transactions", "document": "Documents"}
KIND_OF_NOUN |= {"collection": "Collections", "pool": "Watched names", "backend": "Backends"}
KIND_OF_NOUN |= {"operation": "Operations", "incident": "Incidents"}


def screens(asked: Asked) -> Iterator[Hit]:
    """Find screens and tabs by any part of their names."""
    places = {item["name"]: item["url"] for item in navigation(asked.user, "")}
    places |= {
        name: str(address(tab)) for name, tab in MORE.items() if name.split(" ›")[0] in places
    }
    for name, url in places.items():
        if _holds(asked, name):
            yield Hit("Screens", name, url)
    for section, screen in TABBED.items():
        if section in places:
            yield from _tabs(asked, section, screen)


def _tabs(asked: Asked, section: str, screen: type[TabbedScreen]) -> Iterator[Hit]:
    """Find the tabs of a section that this user may open."""
    for tab, word in screen.tabs.items():
        name = f"{section} › {word}"
        if _holds(asked, name) and may(asked.user, _action(url := str(address(tab)))):
            yield Hit("Screens", name, url)


def _holds(asked: Asked, name: str) -> bool:
    return all(word in name.lower() for word in asked.words)


def _action(url: str) -> str:
    view: Any = resolve(url).func
    return view.view_class.actions["GET"]


def watched_names(asked: Asked) -> Iterator[Hit]:
    """Find pools by parts of their names here and in DNS, and by a backend's first letters."""
    known = first(Pool.objects.all()).filter(holding(asked.words, "name", "domain"))
    for pool in known[:MOST_OF_A_KIND]:
        yield Hit("Watched names", pool.name, pool.get_absolute_url(), pool.domain)
    starts = Q(address__startswith=asked.text) | Q(instance_id__startswith=asked.text)
    backends = newest(Backend.objects.all()).filter(starts).select_related("pool")
    for backend in backends[:MOST_OF_A_KIND]:
        detail = f"backend {backend.address}"
        yield Hit("Watched names", backend.pool.name, backend.pool.get_absolute_url(), detail)


def subjects(asked: Asked) -> Iterator[Hit]:
    """Find objects of any kind with this id that have events, and those events."""
    wanted = [asked.text, *(f"{noun}:{asked.text}" for noun in NOUNS)]
    known = Event.objects.filter(subject__in=wanted).order_by("subject").values_list("subject")
    for (subject,) in known.distinct():
        noun, _, name = subject.partition(":")
        if noun in KIND_OF_NOUN:
            yield Hit(KIND_OF_NOUN[noun], name, subject_url(subject))
        yield Hit("Events", f"Events of {noun} {name}", _events(subject=subject))


def kinds_and_actors(asked: Asked) -> Iterator[Hit]:
    """Find the kinds of events by parts, and events by the whole name of whoever caused them."""
    kinds = distinct_values(Event, "kind", MOST_KINDS)
    fitting = [kind for kind in kinds if _holds(asked, kind)]
    for kind in fitting[:MOST_OF_A_KIND]:
        yield Hit("Events", f"Every {kind}", _events(kind=kind))
    if Event.objects.filter(actor=asked.text).exists():
        yield Hit("Events", f"Events by {asked.text}", _events(actor=asked.text))


def users(asked: Asked) -> Iterator[Hit]:
    if not may(asked.user, "user.administer"):
        return
    known = first(User.objects.all()).filter(holding(asked.words, "username", "email"))
    for pk, name in known.values_list("pk", "username")[:MOST_OF_A_KIND]:
        yield Hit("Users", name, str(address("system-user", pk)))


def _events(**filters: str) -> str:
    return f"{address('events')}?{urlencode(filters)}"
