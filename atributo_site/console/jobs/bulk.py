"""Retry, abort or delete many jobs, after a page that names them."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.html import format_html
from django.utils.http import urlencode

from atributo_site.console.base.forms import reason_of
from atributo_site.console.base.screen import Screen
from atributo_site.console.base.terminal import curl
from atributo_site.console.jobs.list import five
from atributo_site.console.jobs.query import Query, flags
from atributo_site.core.models.clock import database_now
from atributo_site.core.text import pluralize
from atributo_site.web.pagination import MOST_COUNTED, capped_count, format_count, whole
from queues.jobs import bulk, operations
from queues.jobs.actions import ENDING, schedules_among
from queues.models import QueuedJob

AT_ONCE = 100  # more than these are an operation that the curator does
WORD = "all jobs"
NOTHING_CHOSEN = "Select at least one job, or choose all matching jobs."


class Bulk(Screen):
    """The question has an address of its own; the form on it sends "sure"."""

    actions = {"GET": "job.operate", "POST": "job.operate"}
    template_name = "console/jobs/bulk.html"
    title = "Confirm"

    def get(self, request: HttpRequest) -> HttpResponse:
        chosen = Chosen(request.GET)
        if chosen.nothing:
            return self._nothing(chosen)
        return self._ask(_action(request.GET), chosen)

    def post(self, request: HttpRequest) -> HttpResponse:
        action, chosen = _action(request.POST), Chosen(request.POST)
        if chosen.nothing:
            return self._nothing(chosen)
        if not request.POST.get("sure"):
            return self._ask(action, chosen)
        is_large = chosen.all and capped_count(chosen.jobs()) > AT_ONCE
        if _needs_word(action, chosen, is_large) and request.POST.get("word") != WORD:
            return self._ask(action, chosen, wrong=True)
        return self._begin(action, chosen) if is_large else self._do(action, chosen)

    def _nothing(self, chosen: "Chosen") -> HttpResponse:
        messages.warning(self.request, NOTHING_CHOSEN)
        return redirect(chosen.back())

    def _ask(self, action: str, chosen: "Chosen", wrong: bool = False) -> HttpResponse:
        jobs = chosen.jobs()
        count = capped_count(jobs)
        is_large = chosen.all and count > AT_ONCE
        first, number = five(jobs, chosen.query.now), format_count(count)
        return self.show(
            400 if wrong else 200,
            action=action,
            chosen=chosen,
            count=count,
            number=number,
            crumbs=[("Jobs", reverse("atributo:jobs"))],
            heading=f"{action.capitalize()} {number} job{'' if count == 1 else 's'}",
            lead=chosen.lead(),
            reason=self.request.POST.get("reason", ""),
            in_background=is_large,
            with_schedules=self._with_schedules(),
            schedules=_schedules_among(jobs, count) if action in ENDING else "",
            needs_word=_needs_word(action, chosen, is_large),
            first=first,
            newest=first[0]["job"].pk if first else None,
            now=chosen.query.now,
            back=chosen.back(),
            **equivalents(action, chosen),
            word=WORD,
            wrong=wrong,
        )

    def _begin(self, action: str, chosen: "Chosen") -> HttpResponse:
        query = chosen.query
        made = operations.start(
            action,
            query.stored(),
            query.now,
            everything=chosen.wide,
            schedules=self._with_schedules(),
            upto=query.upto,
            **self._reason(),
        )
        messages.success(self.request, "Started. The curator works through the jobs in batches.")
        return redirect("atributo:operation", made.pk)

    def _reason(self) -> dict[str, str]:
        reason = reason_of(self.request, operations.LONGEST_REASON)
        return {"reason": reason} if reason else {}

    def _with_schedules(self) -> bool:
        """Say whether repeating jobs are meant, too."""
        return "schedules" in self.request.POST

    def _do(self, action: str, chosen: "Chosen") -> HttpResponse:
        ids = list(chosen.jobs().order_by("-pk").values_list("pk", flat=True))
        facts = {"query": chosen.sentence(), **self._reason()}
        done = bulk.do(action, ids, schedules=self._with_schedules(), **facts)
        changed = pluralize(done.changed, "job")
        messages.success(self.request, f"{action.capitalize()}: {changed} of {len(ids)} changed.")
        for job_id, reason in list(done.refused.items())[:5]:
            messages.warning(self.request, f"{job_id}: {reason}")
        return redirect(chosen.back())


class Chosen:
    """The jobs that were ticked, or all that match the query."""

    def __init__(self, given: QueryDict) -> None:
        self.query = Query(given, database_now())
        self.all = "all" in given.getlist("scope")
        self.ids = [] if self.all else _ids(given)
        self.nothing = not self.all and not self.ids

    def jobs(self) -> Any:
        if self.all:
            return self.query.search().jobs
        return QueuedJob.objects.visible().filter(pk__in=self.ids)

    @property
    def wide(self) -> bool:
        """Say whether nothing but a state narrows the jobs; then a word must be typed."""
        return self.all and not self.query.narrow

    def sentence(self) -> str:
        return self.query.sentence() if self.all else f"{len(self.ids)} chosen"

    def lead(self) -> str:
        every = format_html("All jobs that match <strong>{}</strong>", self.sentence())
        return every if self.all else "The jobs that you selected."

    def back(self) -> str:
        """Return the list that the jobs were chosen from."""
        given = urlencode(self.query.address())
        return f"{reverse('atributo:jobs')}{given and f'?{given}'}"


def _needs_word(action: str, chosen: Chosen, is_large: bool) -> bool:
    """Say whether a word must be typed: for all jobs, and for deleting many."""
    return chosen.wide or (is_large and action == "delete")


def _schedules_among(jobs: Any, count: int) -> str:
    """Say how many of the jobs repeat; nothing if none does."""
    if count > MOST_COUNTED:
        return "Some of these jobs may repeat."
    among = schedules_among(jobs, MOST_COUNTED)
    if among and among == count:
        return "It repeats." if count == 1 else "All of these jobs repeat."
    return f"{pluralize(among, 'of these jobs repeats', 'of these jobs repeat')}." if among else ""


def equivalents(action: str, chosen: Chosen) -> dict[str, str]:
    """Return the same action as command and curl."""
    if not chosen.all:
        ids = " ".join(str(each) for each in chosen.ids)
        return {"command": f"manage.py queued_jobs {action} {ids}"}
    query = chosen.query.stored()
    body = {"action": action, "query": query, **({"everything": True} if chosen.wide else {})}
    return {
        "command": _command(action, query, chosen.wide),
        "rest": curl("/api/v1/operations", "POST", body),
    }


def _command(action: str, query: dict[str, str], wide: bool) -> str:
    everything = ["--everything"] if wide else []
    return " ".join(["manage.py operations start", action, *flags(query), *everything])


def _action(given: QueryDict) -> str:
    action = given.get("action", "")
    if action not in bulk.ACTIONS:
        raise BadRequest("The action must be retry, abort or delete.")
    return action


def _ids(given: QueryDict) -> list[int]:
    ids = [whole(text) for text in given.getlist("job")[:1000]]
    if None in ids:
        raise BadRequest("A job id must be a number.")
    return [number for number in ids if number is not None]
