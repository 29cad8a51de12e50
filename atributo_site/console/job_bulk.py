"""Retry, abort or delete many jobs: first a page that names them, then the deed."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode

from allocation.models.clock import database_now
from atributo_site.console.jobs import Query, five
from atributo_site.console.screen import Screen
from atributo_site.keyset import MOST_COUNTED, capped_count, said_count
from queues import bulk
from queues.models import QueuedJob

MOST = MOST_COUNTED
WORD = "all jobs"
DID = {"retry": "wait to run again", "abort": "are aborted", "delete": "are deleted"}


class Bulk(Screen):
    """«sure» is only in the form of the confirming page."""

    actions = {"POST": "job.operate"}
    template_name = "console/jobs_bulk.html"
    title = "Confirm"

    def post(self, request: HttpRequest) -> HttpResponse:
        action = request.POST.get("action", "")
        if action not in bulk.ACTIONS:
            raise BadRequest("the action must be retry, abort or delete")
        chosen = Chosen(request)
        if not request.POST.get("sure"):
            return self._ask(action, chosen)
        if chosen.wide and request.POST.get("word") != WORD:
            return self._ask(action, chosen, wrong=True)
        return self._do(action, chosen)

    def _ask(self, action: str, chosen: "Chosen", wrong: bool = False) -> HttpResponse:
        jobs = chosen.jobs()
        count = capped_count(jobs)
        first = five(jobs)
        return self.show(
            400 if wrong else 200,
            action=action,
            chosen=chosen,
            count=count,
            said=said_count(count),
            more=count > MOST,
            most=MOST,
            first=first,
            newest=first[0].pk if first else None,
            now=chosen.query.now,
            word=WORD,
            wrong=wrong,
        )

    def _do(self, action: str, chosen: "Chosen") -> HttpResponse:
        ids = list(chosen.jobs().order_by("-pk").values_list("pk", flat=True)[:MOST])
        done = bulk.do(action, ids, query=chosen.said())
        what = "job" if done.changed == 1 else "jobs"
        messages.success(
            self.request, f"{action.capitalize()}: {done.changed:,} {what} of {len(ids):,} changed."
        )
        for job_id, reason in list(done.refused.items())[:5]:
            messages.warning(self.request, f"{job_id}: {reason}")
        return redirect(f"{reverse('jobs')}?{urlencode(chosen.address())}")


class Chosen:
    """Either the jobs that were ticked, or all that match the query."""

    def __init__(self, request: HttpRequest) -> None:
        self.query = Query(request.POST, database_now())
        self.ids = [] if "all" in request.POST.getlist("scope") else _ids(request)
        self.all = not self.ids

    def jobs(self) -> Any:
        if self.all:
            return self.query.found().jobs
        return QueuedJob.objects.visible().filter(pk__in=self.ids)

    @property
    def wide(self) -> bool:
        """Everything in a state, or everything: a word must be typed."""
        return self.all and not self.query.narrow

    def said(self) -> str:
        return self.query.said() if self.all else f"{len(self.ids)} chosen"

    def address(self) -> dict[str, str]:
        return self.query.address()


def _ids(request: HttpRequest) -> list[int]:
    given = request.POST.getlist("job")[:1000]
    wrong = [text for text in given if not (text.isascii() and text.isdigit() and len(text) < 19)]
    if wrong or not given:
        raise BadRequest("choose at least one job, or all that match")
    return [int(text) for text in given]
