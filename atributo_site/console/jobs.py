"""Jobs: state tabs with counts, a search with qualifiers, pages by key."""

from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponse

from allocation.models.clock import database_now
from atributo_site.console.job_columns import columns
from atributo_site.console.job_data import beginning, with_beginnings
from atributo_site.console.job_query import Query, equivalents
from atributo_site.console.job_state import job_state
from atributo_site.console.saved_views import views_of
from atributo_site.console.screen import Screen
from atributo_site.keyset import capped_count, page_by_key, said_count
from atributo_site.permissions import may
from queues.job_states import STATES
from queues.logic.job_query import QUALIFIERS, written
from queues.models import Queue, QueuedJob, Script

PAGE = 50
SUGGESTED = 40


class Jobs(Screen):
    actions = {"GET": "job.view"}
    template_name = "console/jobs.html"
    title = "Jobs"

    def get(self, request: HttpRequest) -> HttpResponse:
        now = database_now()
        query = Query(request.GET, now)
        if query.wrong:
            return self.show(400, query=query, tabs=tabs(query), columns=columns(request.GET))
        found = query.found()
        chosen = columns(request.GET)
        page = page_by_key(
            _listed(found.jobs, chosen.has("data")),
            after=request.GET.get("after", ""),
            before=request.GET.get("before", ""),
            size=PAGE,
            keys_first=True,
        )
        counts = tab_counts(query)
        here = next(tab for tab in counts if tab["current"])
        return self.show(
            now=now,
            query=query,
            tabs=counts,
            here=here,
            floor=found.floor,
            page=page,
            is_part=bool(request.GET.keys() - {"columns"}),
            rows=[_row(job, chosen.has("data"), now) for job in page.rows],
            columns=chosen,
            suggestions=suggestions(),
            qualifiers=QUALIFIERS,
            views=views_of(request, "jobs"),
            may_operate=may(request.user, "job.operate"),
            may_push=may(request.user, "job.push"),
            same=equivalents(query),
        )


def _listed(jobs: Any, has_data: bool) -> Any:
    rows = jobs.select_related("queue").defer("data", "result")
    return with_beginnings(rows) if has_data else rows


def _row(job: QueuedJob, has_data: bool, now: datetime) -> dict[str, Any]:
    data = beginning(job) if has_data else ""
    return {"job": job, "state": job_state(job, now), "data": data}


def tabs(query: Query) -> list[dict[str, Any]]:
    """All, then each state; not counted yet."""
    return [
        {"state": state, "name": state or "all", "said": "", "current": state == query.state}
        for state in ("", *STATES)
    ]


def tab_counts(query: Query) -> list[dict[str, Any]]:
    """The same, counted no further than is said."""
    return [
        {**tab, "said": said_count(capped_count(query.found(tab["state"]).jobs, by_key=True))}
        if tab["current"] or query.counted
        else tab
        for tab in tabs(query)
    ]


def queue_names() -> list[str]:
    names = Queue.objects.existing().order_by("name").values_list("name", flat=True)
    return list(names[:SUGGESTED])


def suggestions() -> list[str]:
    """What the search box offers: queues and scripts that exist."""
    scripts = Script.objects.order_by("service__mount", "name")
    offered = scripts.values_list("service__mount", "name")[:SUGGESTED]
    return [
        *(written("queue", name) for name in queue_names()),
        *(written("script", f"{mount}/{name}") for mount, name in offered),
    ]


def five(jobs: Any, now: datetime) -> list[dict[str, Any]]:
    """The newest five, to be named before all are touched."""
    return [_row(job, True, now) for job in _listed(jobs, True).order_by("-pk")[:5]]
