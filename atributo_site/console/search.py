"""Search for screens, objects and events by name."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.db.models import Q
from django.db.models.functions import Now
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from allocation.models import Allocation, Instance
from allocation.transactions.models import Document, Transaction
from atributo_site.console.base.navigation import address, navigation
from atributo_site.console.base.screen import Screen
from atributo_site.console.base.subjects import NOUNS, subject_url
from atributo_site.console.jobs.state import job_state
from atributo_site.core.models import Event
from atributo_site.web.pagination import whole
from pools.models import Pool
from queues.models import Queue, QueuedJob, Service

LONGEST = 320
MOST_NAMES = 10


@dataclass(frozen=True)
class Hit:
    kind: str
    name: str
    url: str


def screens(user: Any, text: str) -> list[Hit]:
    items = [item for item in navigation(user, "") if text.lower() in item["name"].lower()]
    return [Hit("screen", item["name"], item["url"]) for item in items]


def subjects(user: Any, text: str) -> list[Hit]:
    """Find objects of any kind with this id that have events, and those events."""
    wanted = [text, *(f"{noun}:{text}" for noun in NOUNS)]
    known = Event.objects.filter(subject__in=wanted).order_by("subject").values_list("subject")
    return [hit for (subject,) in known.distinct() for hit in _subject(subject)]


def _subject(subject: str) -> list[Hit]:
    noun, _, name = subject.partition(":")
    events = Hit("events", f"Events of {noun} {name}", _events(subject=subject))
    return [Hit(noun, name, subject_url(subject)), events]


def kinds_and_actors(user: Any, text: str) -> list[Hit]:
    """Find events of this kind and events by this actor."""
    sentences = {"kind": f"Every {text}", "actor": f"Events by {text}"}
    return [
        Hit("events", words, _events(**{name: text}))
        for name, words in sentences.items()
        if Event.objects.filter(**{name: text}).exists()
    ]


def _events(**filters: str) -> str:
    return f"{address('events')}?{urlencode(filters)}"


def transactions(user: Any, text: str) -> list[Hit]:
    """Find a transaction by number, a collection by name, a document by both its names."""
    collection, _, key = text.partition("/")
    number = whole(text) or 0
    rows = Transaction.objects.filter(pk=number)
    documents = Document.objects.filter(collection=collection)
    hits = [Hit("transaction", text, subject_url(f"transaction:{number}"))] * rows.exists()
    if key and documents.filter(key=key).exists():
        hits += [Hit("document", text, reverse("atributo:document", args=[collection, key]))]
    if not key and documents.exists():
        hits += [Hit("collection", text, reverse("atributo:collection", args=[text]))]
    return hits


def placements(user: Any, text: str) -> list[Hit]:
    """Find instances and allocated keys that begin with the text."""
    instances = Instance.objects.starting_with(text).order_by("pk").values_list("pk", flat=True)
    jobs = Allocation.objects.starting_with(text).order_by("pk").values_list("pk", "instance_id")
    return [
        *(
            Hit("instance", pk, reverse("atributo:instance", args=[pk]))
            for pk in instances[:MOST_NAMES]
        ),
        *(
            Hit("allocation", f"{pk} on {instance_id}", reverse("atributo:allocation", args=[pk]))
            for pk, instance_id in jobs[:MOST_NAMES]
        ),
    ]


def work(user: Any, text: str) -> list[Hit]:
    """Find a queued job by id, a queue by name, a service by mount."""
    jobs = QueuedJob.objects.filter(pk=whole(text) or 0).defer("data", "result").annotate(now=Now())
    hits = [Hit("queued job", _job_sentence(job), subject_url(f"job:{text}")) for job in jobs]
    if Queue.objects.existing().filter(name=text).exists():
        hits += [Hit("queue", text, subject_url(f"queue:{text}"))]
    services = Service.objects.filter(mount__in=[text, f"/{text}"]).values_list("mount", flat=True)
    return hits + [Hit("service", mount, subject_url(f"service:{mount}")) for mount in services]


def _job_sentence(job: Any) -> str:
    where = f" at {job.routed_to}" if job.routed_to else ""
    return f"{job.pk} {job.mount}/{job.script}, {job_state(job, job.now)}{where}"


def watched_names(user: Any, text: str) -> list[Hit]:
    """Find pools by their name here or in DNS, or by the address of a backend."""
    by = Q(name=text) | Q(domain=text) | Q(backends__address=text) | Q(backends__instance_id=text)
    names = Pool.objects.filter(by).order_by("name").distinct()[:MOST_NAMES]
    return [Hit("pool", pool.name, pool.get_absolute_url()) for pool in names]


FINDERS: list[Callable[[Any, str], list[Hit]]] = [
    screens,
    placements,
    transactions,
    work,
    watched_names,
    subjects,
    kinds_and_actors,
]


class Search(Screen):
    actions = {"GET": "overview.view"}
    template_name = "console/search.html"
    title = "Search"

    def get(self, request: HttpRequest) -> HttpResponse:
        text = request.GET.get("q", "").strip()[:LONGEST]
        hits = [hit for find in FINDERS for hit in find(request.user, text)] if text else []
        by_url = {hit.url: hit for hit in reversed(hits)}  # the first finder names a page
        return self.show(searched=text, hits=list(by_url.values())[::-1])
