"""Show one queue: what runs and waits in it, how it went, and what can be set."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponse

from atributo_site.console.base.charts import charts
from atributo_site.console.base.screen import Screen
from atributo_site.console.jobs.list import newest
from atributo_site.core.models import Event, Lease
from atributo_site.core.models.clock import database_now
from atributo_site.core.text import pluralize
from atributo_site.core.text import written as span_written
from atributo_site.incidents.cures import button_of
from atributo_site.incidents.listing import unstored
from atributo_site.permissions import may
from atributo_site.web.format import roughly
from atributo_site.web.pagination import capped_count
from queues import catalogue
from queues.catalogue import MOST_DAYS
from queues.errors import BadQueue, QueueNotFound
from queues.logic.absence import WhenAway
from queues.logic.flow.limits import parsed
from queues.logic.lateness import TARGET_AGE_SECONDS, target_age
from queues.logic.queue_choice import QueueChoice, from_facts
from queues.logic.search_query import written
from queues.models import Queue, QueuedJob, Slot
from queues.models.queue import MOST_WORKERS
from queues.queries.backlog import with_depth
from queues.queries.counters import within_ms
from queues.queries.flows import limits_status
from queues.queries.incidents import about_queue, why_waiting
from queues.queries.search import search
from queues.queries.snapshot import queue_lines

SHARES = (0.5, 0.95, 0.99)
MOST_SLOTS = 50
MOST_WORKER_LEASES = 500
START_SENTENCES = {
    True: "Each start is recorded before the job begins.",
    False: "The starts of short jobs are recorded with their ends.",
}
AWAY_SENTENCES: dict[str, str] = {
    WhenAway.WAIT: "wait for their instance for as long as it takes",
    WhenAway.MOVE: "move to another instance after no worker has served theirs for {}",
    WhenAway.FAIL: "fail after no worker has served their instance for {}",
}


class OneQueue(Screen):
    actions = {"GET": "queue.view"}
    template_name = "console/queues/detail.html"
    is_shared = True

    def get(self, request: HttpRequest, name: str) -> HttpResponse:
        queue = queue_or_404(name)
        now = database_now()
        (line,) = lines([queue.pk], now)
        self.title = name
        workers = [from_facts(lease.facts) for lease in _workers()]
        wrong = about_queue(line, now, workers)
        drawn = charts(request.GET.get("range", ""), now, queue)
        return self.show(
            now=now,
            queue=line,
            row=queue,
            failed=failed_count(queue, now),
            charts=drawn,
            times=times(drawn["buckets"]) if drawn["ran"] else None,
            slots=Slot.objects.live().filter(queue=queue).order_by("number")[:MOST_SLOTS],
            nobody=nobody(why_waiting(line, workers), workers),
            wrong=wrong,
            button=button_of(unstored(wrong, now), request.user) if wrong else None,
            jobs=newest(QueuedJob.objects.visible().filter(queue=queue), now),
            events=Event.objects.newest_first().filter(subject=f"queue:{name}")[:10],
            rights=rights(request),
            flow=flow_of(queue) | _what_if(queue, request.GET.get("limits")),
            **settings_of(queue),
        )


def failed_count(queue: Queue, now: datetime) -> int:
    """Count the failed jobs as the list of jobs does."""
    matches = search(written("queue", queue.name), state="failed", now=now)
    return capped_count(matches.jobs, by_key=True)


def settings_of(queue: Queue) -> dict[str, Any]:
    """Return what the forms of the page show and allow."""
    return {
        "policies": list(WhenAway),
        "away_sentence": AWAY_SENTENCES[queue.when_away].format(roughly(queue.away_seconds)),
        "most_workers": MOST_WORKERS,
        "target_age": target_age(queue.target_age_seconds),
        "default_target_age": span_written(TARGET_AGE_SECONDS * 1000),
        "own_target_age": span_written((queue.target_age_seconds or 0) * 1000),
        "away_after": span_written(queue.away_seconds * 1000),
        "most_days": MOST_DAYS,
        "start_sentence": START_SENTENCES[queue.record_start],
    }


def flow_of(queue: Queue) -> dict[str, Any]:
    """Return the limits, in words and as JSON, and who waits for them."""
    status = limits_status(queue)
    return {
        **status,
        "said": [limit.said() for limit in parsed(queue.limits)],
        "limits_json": json.dumps(status["limits"]) if queue.limits else "",
        "weights_json": json.dumps(status["weights"]) if queue.weights else "",
    }


def _what_if(queue: Queue, typed: str | None) -> dict[str, Any]:
    """Return what limits that were typed would change, and the text, which stays in its field."""
    if typed is None:
        return {}
    try:
        told = catalogue.what_if(queue.name, json.loads(typed or "null"))
    except (ValueError, RecursionError, BadQueue) as error:
        return {"limits_json": typed, "refused": str(error)}
    return {"limits_json": typed, "what_if": told}


def nobody(why: str, workers: Sequence[QueueChoice]) -> dict[str, str]:
    """Explain why no worker runs a job of the queue: nothing is due, or something is in the way."""
    if not workers:
        detail = "Jobs wait until a worker runs."
        return {"title": "No worker is running", "detail": detail, "command": "manage.py worker"}
    idle = f"No job is due. {pluralize(len(workers), 'worker')} will take the next one."
    return {"title": "No worker is running a job of this queue", "detail": why or idle}


def _workers() -> list[Lease]:
    held = Lease.objects.held().filter(role__startswith="worker/")
    return list(held.order_by("role")[:MOST_WORKER_LEASES])


def times(buckets: dict[str, int]) -> list[dict[str, Any]]:
    """Return how long most jobs waited and ran, by share, from the counters."""
    return [
        {
            "share": f"{share:.0%}",
            "wait": within_ms(buckets, "wait", share),
            "run": within_ms(buckets, "run", share),
        }
        for share in SHARES
    ]


def queue_or_404(name: str) -> Queue:
    queue = Queue.objects.existing().filter(name=name).first()
    if queue is None:
        raise QueueNotFound(f"Queue {name} does not exist.", queue=name)
    return queue


def rights(request: HttpRequest) -> dict[str, bool]:
    return {
        "operate": may(request.user, "queue.operate"),
        "administer": may(request.user, "queue.administer"),
    }


def lines(ids: list[int], now: datetime) -> list[dict[str, Any]]:
    """Return one line for each of these queues, in five queries."""
    return queue_lines(list(with_depth(Queue.objects.filter(pk__in=ids)).order_by("name")), now)
