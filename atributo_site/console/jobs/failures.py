"""Group failed jobs by their error, so that each group can be retried or deleted as one."""

from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, QueryDict

from atributo_site.console.base.saved_views import views_of
from atributo_site.console.base.screen import Screen
from atributo_site.console.jobs.list import SUGGESTED, tab_counts
from atributo_site.console.jobs.query import Query, equivalents
from atributo_site.console.push.forms import queue_names
from atributo_site.core.models.clock import database_now
from atributo_site.permissions import may
from queues.logic.search_query import written
from queues.models import QueuedJob
from queues.queries.failures import LOOKED_AT, NO_JOB, groups

LONGEST = 255


class Failures(Screen):
    actions = {"GET": "job.view"}
    template_name = "console/jobs/failures.html"
    is_shared = True
    title = "Failures"

    def get(self, request: HttpRequest) -> HttpResponse:
        now = database_now()
        queue = request.GET.get("queue", "").strip()[:LONGEST]
        query = of_failed(request.GET, queue, now)
        return self.show(
            400 if query.wrong else 200,
            now=now,
            query=query,
            queue=queue,
            queues=queue_names(SUGGESTED),
            tabs=[{**tab, "current": False} for tab in tab_counts(Query({}, now))],
            groups=[] if query.wrong else failure_groups(query, queue),
            looked_at=LOOKED_AT,
            views=views_of(request, "jobs-failures"),
            may_operate=may(request.user, "job.operate"),
            same={} if query.wrong else equivalents(query),
        )


def of_failed(given: QueryDict, queue: str, now: datetime) -> Query:
    """Return the query for the jobs of all groups together."""
    ends = {name: given.get(name, "") for name in ("since", "until")}
    return Query({"state": "failed", "q": queue and written("queue", queue), **ends}, now)


def failure_groups(query: Query, queue: str) -> list[dict[str, Any]]:
    """Return the groups, each with its first job and the address of the list of its jobs."""
    since, until = query.period or (None, None)
    rows = groups(queue=queue, since=since, until=until)
    oldest = QueuedJob.objects.in_bulk([row["oldest"] for row in rows] or [NO_JOB])
    filters = query.address()
    return [
        {
            **row,
            "first": oldest.get(row["oldest"]),
            "filters": urlencode({**filters, "fingerprint": row["fingerprint"]}),
        }
        for row in rows
    ]
