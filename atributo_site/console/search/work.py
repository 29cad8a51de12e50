"""Find queues, services, scripts, jobs and errors."""

from collections.abc import Iterator
from urllib.parse import urlencode

from django.db.models import F, Value
from django.db.models.functions import Concat, Now
from django.urls import reverse

from atributo_site.console.jobs.state import job_state
from atributo_site.console.search.hits import MOST_OF_A_KIND, Asked, Hit
from atributo_site.core.models.names import first, holding
from atributo_site.web.pagination import LARGEST, whole
from queues.models import Queue, QueuedJob, Script, Service
from queues.queries.failures import errors_with


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
