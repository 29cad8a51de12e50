"""Jobs: state tabs with counts, a search with qualifiers, pages by key."""

from datetime import datetime
from shlex import quote
from typing import Any
from urllib.parse import urlencode

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse

from allocation.models.clock import database_now
from atributo_site.console.job_columns import columns
from atributo_site.console.job_data import beginning, with_beginnings
from atributo_site.console.job_state import job_state
from atributo_site.console.moments import BadMoment, moment
from atributo_site.console.numbers import whole
from atributo_site.console.saved_views import views_of
from atributo_site.console.screen import Screen
from atributo_site.console.terminal import curl
from atributo_site.keyset import capped_count, page_by_key, said_count
from atributo_site.permissions import may
from queues.job_states import STATES
from queues.logic.job_query import written
from queues.models import Queue, QueuedJob, Script
from queues.search import Found, Period, answered_by_index, search

PAGE = 50
LONGEST = 500
SUGGESTED = 40
FLAGS = {
    "text": "--query",
    "state": "--state",
    "fingerprint": "--fingerprint",
    "since": "--since",
    "until": "--until",
}


class Jobs(Screen):
    actions = {"GET": "job.view"}
    template_name = "console/jobs.html"
    title = "Jobs"

    def get(self, request: HttpRequest) -> HttpResponse:
        now = database_now()
        query = Query(request.GET, now)
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


class Query:
    """What the address asks for."""

    def __init__(self, given: Any, now: datetime) -> None:
        self.text = given.get("q", "").strip()[:LONGEST]
        self.state = given.get("state", "") if given.get("state", "") in STATES else ""
        self.fingerprint = given.get("fingerprint", "")[:16]
        self.upto = whole(given.get("upto", ""))
        self.since, self.until = (given.get(name, "").strip()[:40] for name in ("since", "until"))
        self.now = now

    def found(self, state: str | None = None) -> Found:
        return search(
            self.text,
            state=self.state if state is None else state,
            fingerprint=self.fingerprint,
            newest=self.upto,
            ended=self.period,
            now=self.now,
        )

    @property
    def period(self) -> Period | None:
        """When the jobs must have ended."""
        try:
            found = moment(self.since, self.now), moment(self.until, self.now)
        except BadMoment as error:
            raise BadRequest(str(error)) from error
        return found if any(found) else None

    @property
    def narrow(self) -> bool:
        """Whether anything but the state is asked for."""
        return bool(self.text or self.fingerprint or self.since or self.until)

    @property
    def counted(self) -> bool:
        """Whether an index counts every state, not only the one that is shown."""
        return answered_by_index(self.text) and self.period is None

    def said(self) -> str:
        parts = [
            self.state,
            self.text,
            self.fingerprint and f"error {self.fingerprint}",
            self.since and f"ended since {self.since}",
            self.until and f"ended before {self.until}",
        ]
        return " · ".join(part for part in parts if part) or "every job"

    def stored(self) -> dict[str, str]:
        """As an operation keeps it: ages have become moments."""
        names = ("text", "state", "fingerprint")
        given = {name: getattr(self, name) for name in names if getattr(self, name)}
        ends = zip(("since", "until"), self.period or (), strict=False)
        return given | {name: at.isoformat() for name, at in ends if at is not None}

    def address(self) -> dict[str, str]:
        """What leads here again."""
        names = {"q": "text", "state": "state", "fingerprint": "fingerprint"}
        named = {**names, "since": "since", "until": "until"}
        given = {name: getattr(self, attribute) for name, attribute in named.items()}
        return {name: value for name, value in given.items() if value}


def tab_counts(query: Query) -> list[dict[str, Any]]:
    """All, then each state, counted no further than is said."""
    found = []
    for state in ("", *STATES):
        counted = state == query.state or query.counted
        count = capped_count(query.found(state).jobs, by_key=True) if counted else 0
        found.append(
            {
                "state": state,
                "name": state or "all",
                "count": count,
                "said": said_count(count) if counted else "",
                "current": state == query.state,
            }
        )
    return found


def suggestions() -> list[str]:
    """What the search box offers: queues and scripts that exist."""
    names = Queue.objects.existing().order_by("name").values_list("name", flat=True)
    scripts = Script.objects.order_by("service__mount", "name")
    offered = scripts.values_list("service__mount", "name")[:SUGGESTED]
    return [
        *(written("queue", name) for name in names[:SUGGESTED]),
        *(written("script", f"{mount}/{name}") for mount, name in offered),
    ]


def equivalents(query: Query) -> dict[str, str]:
    """The same search; the command looks no further back."""
    stored = query.stored()
    upto = {} if query.upto is None else {"upto": str(query.upto)}
    given = urlencode(stored | upto)
    return {
        "command": "" if upto else " ".join(["manage.py queued_jobs list", *flags(stored)]),
        "rest": curl(f"/api/v1/jobs{given and f'?{given}'}"),
    }


def flags(stored: dict[str, str]) -> list[str]:
    """A query as a command takes it."""
    return [f"{flag} {quote(stored[name])}" for name, flag in FLAGS.items() if name in stored]


def five(jobs: Any, now: datetime) -> list[dict[str, Any]]:
    """The newest five, to be named before all are touched."""
    return [_row(job, True, now) for job in _listed(jobs, True).order_by("-pk")[:5]]
