"""List jobs by state, search and columns, each with the beginning of its data."""

from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Case, F, JSONField, OuterRef, Subquery, TextField, When
from django.db.models.functions import Cast, Length
from django.http import HttpRequest, HttpResponse, QueryDict

from atributo_site.console.base.saved_views import views_of
from atributo_site.console.base.screen import Screen
from atributo_site.console.jobs.query import Query, equivalents
from atributo_site.console.jobs.state import job_state
from atributo_site.console.push.forms import queue_names
from atributo_site.core.models.clock import database_now
from atributo_site.permissions import may
from atributo_site.web.format import one_line
from atributo_site.web.pagination import capped_count, format_count, newest_by_key, page_by_key
from queues.logic.search_query import QUALIFIERS, written
from queues.models import QueuedJob, Script
from queues.queries.presenters import masked_by_schema
from queues.queries.states import STATES

TITLES = {
    "state": "State",
    "script": "Script",
    "data": "Data",
    "queue": "Queue",
    "attempt": "Attempt",
    "when": "When",
    "pushed": "Pushed",
    "by": "Pushed by",
    "runs": "Runs",
    "sticky": "Key",
    "instance": "Instance",
    "unique": "Unique key",
}
USUAL = {"state", "script", "data", "queue", "attempt", "when"}
NUMBERS = {"attempt", "runs"}
READ = 2_000  # characters; longer data is on the page of the job
LONGEST = 80
LONG = "long; see the job"
PAGE = 50
SUGGESTED = 40


class Jobs(Screen):
    actions = {"GET": "job.view"}
    template_name = "console/jobs/list.html"
    is_shared = True
    title = "Jobs"

    def get(self, request: HttpRequest) -> HttpResponse:
        now = database_now()
        query = Query(request.GET, now)
        if query.wrong:
            return self.show(400, query=query, tabs=tabs(query), columns=columns(request.GET))
        matches = query.search()
        chosen = columns(request.GET)
        page = page_by_key(
            _listed(matches.jobs, chosen.has("data")),
            **self.page_keys,
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
            floor=matches.floor,
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


class Column(NamedTuple):
    name: str
    title: str
    is_visible: bool

    @property
    def is_number(self) -> bool:
        return self.name in NUMBERS


class Columns(NamedTuple):
    all: list[Column]
    is_chosen: bool

    @property
    def visible(self) -> list[Column]:
        return [column for column in self.all if column.is_visible]

    def has(self, name: str) -> bool:
        return any(column.name == name for column in self.visible)


def columns(given: QueryDict) -> Columns:
    """Return the usual columns, unless the address names others that exist."""
    chosen = TITLES.keys() & set(given.getlist("columns"))
    names = chosen or USUAL
    return Columns([Column(name, TITLES[name], name in names) for name in TITLES], bool(chosen))


def with_beginnings(jobs: Any) -> Any:
    """Annotate the data, where it is short, and the schema that marks its secrets."""
    script = Script.objects.filter(service__mount=OuterRef("mount"), name=OuterRef("script"))
    return jobs.annotate(
        data_size=Length(Cast("data", TextField())),
        short_data=Case(When(data_size__lte=READ, then=F("data")), output_field=JSONField()),
        script_schema=Subquery(script.values("schema")[:1]),
    )


def beginning(job: QueuedJob) -> str:
    """Return the beginning of the data as people write it down: to: ada, subject: Hello."""
    if (job.data_size or 0) > READ:  # type: ignore[attr-defined]
        return LONG
    data = masked_by_schema(job.short_data, job.script_schema)  # type: ignore[attr-defined]
    if isinstance(data, dict):
        text = ", ".join(f"{name}: {one_line(value)}" for name, value in data.items())
    else:
        text = "" if data is None else one_line(data)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _listed(jobs: Any, has_data: bool) -> Any:
    rows = jobs.select_related("queue").defer("data", "result")
    return with_beginnings(rows) if has_data else rows


def _row(job: QueuedJob, has_data: bool, now: datetime) -> dict[str, Any]:
    data = beginning(job) if has_data else ""
    return {"job": job, "state": job_state(job, now), "data": data}


def tabs(query: Query) -> list[dict[str, Any]]:
    """Return a tab for all jobs and one for each state, without counts."""
    return [
        {"state": state, "name": state or "all", "count": "", "current": state == query.state}
        for state in ("", *STATES)
    ]


def tab_counts(query: Query) -> list[dict[str, Any]]:
    """Return the tabs with counts, as far as an index can count them."""
    return [
        {**tab, "count": format_count(capped_count(query.search(tab["state"]).jobs, by_key=True))}
        if tab["current"] or query.counted
        else tab
        for tab in tabs(query)
    ]


def suggestions() -> list[str]:
    """Return queues and scripts that exist, for the search box to offer."""
    scripts = Script.objects.order_by("service__mount", "name")
    offered = scripts.values_list("service__mount", "name")[:SUGGESTED]
    return [
        *(written("queue", name) for name in queue_names(SUGGESTED)),
        *(written("script", f"{mount}/{name}") for mount, name in offered),
    ]


def newest(jobs: Any, now: datetime, most: int = 10) -> list[dict[str, Any]]:
    """Return the newest jobs, with the beginning of their data."""
    return [_row(job, True, now) for job in newest_by_key(_listed(jobs, True), most)]


def five(jobs: Any, now: datetime) -> list[dict[str, Any]]:
    """Return the newest five, to show them before all are changed."""
    return [_row(job, True, now) for job in _listed(jobs, True).order_by("-pk")[:5]]
