"""Find objects of every kind by what was typed: each function finds one kind."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.models import User
from django.db.models import F, Q, Value
from django.db.models.functions import Concat, Now
from django.urls import resolve, reverse

from allocation.models import Allocation, Instance
from allocation.transactions.documents.names import starting_with
from allocation.transactions.models import Document, Transaction
from atributo_site.console.base.navigation import address, navigation
from atributo_site.console.base.screen import TabbedScreen
from atributo_site.console.base.subjects import NOUNS, subject_url
from atributo_site.console.jobs.state import job_state
from atributo_site.console.pools.list import PoolScreen
from atributo_site.console.search.hits import MOST_OF_A_KIND, Asked, Hit
from atributo_site.console.system.health import SystemScreen
from atributo_site.console.transactions.list import TransactionsScreen
from atributo_site.core.models import Event
from atributo_site.core.models.names import distinct_values, first, holding, newest
from atributo_site.permissions import may
from atributo_site.web.pagination import LARGEST, whole
from pools.models import Backend, Pool
from queues.models import Queue, QueuedJob, Script, Service
from queues.queries.failures import errors_with

MORE = {"Jobs › By error": "jobs-failures", "Allocations › Map": "allocations-map"}
TABBED = {"System": SystemScreen, "Pools & DNS": PoolScreen, "Transactions": TransactionsScreen}
MOST_KINDS = 300  # of events
KIND_OF_NOUN = {"queue": "Queues", "job": "Jobs", "service": "Services", "instance": "Instances"}
KIND_OF_NOUN |= {"allocation": "Keys", "transaction": "Transactions", "document": "Documents"}
KIND_OF_NOUN |= {"collection": "Collections", "pool": "Watched names", "backend": "Backends"}
KIND_OF_NOUN |= {"operation": "Operations", "incident": "Incidents"}
MOST_COLLECTIONS = 50


def queues(asked: Asked) -> Iterator[Hit]:
    known = first(Queue.objects.existing()).filter(holding(asked.words, "name"))
    for name in known.values_list("name", flat=True)[:MOST_OF_A_KIND]:
        yield Hit("Queues", name, reverse("atributo:queue", args=[name]))


def services(asked: Asked) -> Iterator[Hit]:
    known = first(Service.objects.all()).filter(holding(asked.words, "mount", "name"))
    for mount, name in known.values_list("mount", "name")[:MOST_OF_A_KIND]:
        yield Hit("Services", mount, reverse("atributo:service", args=[mount]), name)


def scripts(asked: Asked) -> Iterator[Hit]:
    """Find scripts by parts of `/mount/name` and of their title."""
    whole_name = Concat(F("service__mount"), Value("/"), F("name"))
    known = first(Script.objects.all()).annotate(whole_name=whole_name)
    rows = known.filter(holding(asked.words, "whole_name", "title"))
    for mount, name, title in rows.values_list("service__mount", "name", "title")[:MOST_OF_A_KIND]:
        detail = f"{mount}, {title}" if title and title != name else mount
        yield Hit("Scripts", name, reverse("atributo:script", args=[mount, name]), detail)


def jobs(asked: Asked) -> Iterator[Hit]:
    """Find jobs by their id or its first digits."""
    number = whole(asked.text)
    if number is None:
        return
    found = QueuedJob.objects.filter(pk__in=_ids_from(number))
    for job in found.defer("data", "result").annotate(now=Now()).order_by("-pk"):
        where = f" at {job.routed_to}" if job.routed_to else ""
        detail = f"{job.mount}/{job.script}, {job_state(job, job.now)}{where}"
        yield Hit("Jobs", str(job.pk), job.get_absolute_url(), detail)


def _ids_from(number: int) -> list[int]:
    """Return the id itself, and the newest of those that are as long as the ends of the table."""
    ids = QueuedJob.objects.order_by("-pk").values_list("pk", flat=True)
    ends = [str(next(iter(end), number)) for end in (ids[:1], ids.reverse()[:1])]
    found = [number]
    for end in ends:  # one look for each, so that many jobs need no more looks than few
        ten = 10 ** max(0, len(end) - len(str(number)))
        last = min((number + 1) * ten - 1, LARGEST)
        found += ids.filter(pk__gte=min(number * ten, LARGEST), pk__lte=last)[:MOST_OF_A_KIND]
    return found


def errors(asked: Asked) -> Iterator[Hit]:
    """Find groups of failed jobs by parts of the error of their newest job."""
    for fingerprint, error, script in errors_with(asked.words, MOST_OF_A_KIND):
        chosen = urlencode({"state": "failed", "fingerprint": fingerprint})
        yield Hit("Errors", error[:200], f"{reverse('atributo:jobs')}?{chosen}", script)


def instances(asked: Asked) -> Iterator[Hit]:
    """Find instances by their first letters, and by any part among the first of them."""
    known = Instance.objects.all()
    looks = [
        known.starting_with(asked.text).order_by("pk"),
        first(known).filter(holding(asked.words, "id")),
    ]
    for rows in looks:
        for pk in rows.values_list("pk", flat=True)[:MOST_OF_A_KIND]:
            yield Hit("Instances", pk, reverse("atributo:instance", args=[pk]))


def keys(asked: Asked) -> Iterator[Hit]:
    """Find allocated keys by their first letters, and by any part among the newest."""
    known = Allocation.objects.all()
    looks = [
        known.starting_with(asked.text).order_by("pk"),
        newest(known, by="epoch").filter(holding(asked.words, "job_id")),
    ]
    for rows in looks:
        for pk, place in rows.values_list("pk", "instance_id")[:MOST_OF_A_KIND]:
            yield Hit("Keys", pk, reverse("atributo:allocation", args=[pk]), f"on {place}")


def transactions(asked: Asked) -> Iterator[Hit]:
    """Find a transaction by its number, and the newest by parts of label, owner and reason."""
    number = whole(asked.text)
    rows = list(Transaction.objects.filter(pk=number or 0))
    said = holding(asked.words, "label", "owner", "reason", "error")
    rows += newest(Transaction.objects.all()).filter(said)[:MOST_OF_A_KIND]
    for row in rows:
        words = [row.status, row.label or row.owner]
        yield Hit(
            "Transactions", str(row.pk), row.get_absolute_url(), ", ".join(filter(None, words))
        )


def documents(asked: Asked) -> Iterator[Hit]:
    """Find collections by parts, documents by their first letters, and the newest by parts."""
    names = distinct_values(Document, "collection", MOST_COLLECTIONS)
    for name in names:
        if all(word in name.lower() for word in asked.words):
            yield Hit("Collections", name, reverse("atributo:collection", args=[name]))
    collection, slash, key = asked.text.partition("/")
    wanted = {collection: key} if slash and key else dict.fromkeys(names, asked.text)
    found = list(starting_with(wanted))
    both = Concat(F("collection"), Value("/"), F("key"))
    parts = newest(Document.objects.all()).filter(present=True).annotate(both=both)
    found += parts.filter(holding(asked.words, "both")).values_list("collection", "key")[
        :MOST_OF_A_KIND
    ]
    for place in found:
        yield Hit("Documents", "/".join(place), reverse("atributo:document", args=place))


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
