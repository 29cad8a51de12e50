"""Schedules: the jobs that repeat, as sentences, with their next and last runs."""

from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse

from allocation.models.clock import database_now
from atributo_site.console.job_state import job_state, repeats_said
from atributo_site.console.ordered_pages import page_in_order
from atributo_site.console.push_form import queue_names
from atributo_site.console.schedule_filter import ScheduleFilter
from atributo_site.console.screen import Screen
from atributo_site.permissions import may
from queues.logic.lifecycle import FOREVER
from queues.logic.repeats import next_runs
from queues.models import QueuedJob, Run, Script
from queues.repeating import last_runs, repeating

PAGE = 50
MOST_SCRIPTS = 200
BEGINNING = urlencode({"repeat_times": FOREVER, "repeat_delay": "1h"})


class Schedules(Screen):
    actions = {"GET": "job.view"}
    template_name = "console/schedules.html"
    title = "Schedules"

    def get(self, request: HttpRequest) -> HttpResponse:
        now = database_now()
        keys = {name: request.GET.get(name, "") for name in ("after", "before")}
        form = ScheduleFilter(request.GET)
        rows = form.of(repeating().select_related("queue").defer("data", "result"))
        page = page_in_order(rows, "due_at", **keys, size=PAGE)
        runs = last_runs([job.pk for job in page.rows])
        return self.show(
            200,
            now=now,
            page=page,
            rows=[line(job, runs[job.pk], now) for job in page.rows],
            form=form,
            filtered=form.says(),
            queue_names=queue_names(),
            may_operate=may(request.user, "job.operate"),
            may_push=may(request.user, "job.push"),
            **form.equivalents(),
        )


class New(Screen):
    """Which script: its push form follows, with the part for repeats filled in."""

    actions = {"GET": "job.push"}
    template_name = "console/schedules_new.html"
    title = "New schedule"

    def get(self, request: HttpRequest) -> HttpResponse:
        scripts = Script.objects.select_related("service").order_by("service__mount", "name")
        found = list(scripts.defer("schema", "defaults")[: MOST_SCRIPTS + 1])
        return self.show(
            scripts=found[:MOST_SCRIPTS], more=len(found) > MOST_SCRIPTS, beginning=BEGINNING
        )


def line(job: QueuedJob, runs: list[Run], now: datetime) -> dict[str, Any]:
    state = job_state(job, now)
    return {
        "job": job,
        "state": "waiting" if state == "delayed" else state,  # what repeats always waits
        "sentence": repeats_said(job, now),
        "next": ahead(job, now),
        "runs": [(run.outcome, run.started_at) for run in runs],
    }


def ahead(job: QueuedJob, now: datetime) -> list[datetime]:
    """While it runs, the next one is a delay away from its start; what is late may start now."""
    if job.status != "pending":
        return []
    first = max(job.due_at, now)
    return next_runs(first, job.repeat_delay_ms, job.repeat_times, job.runs, job.repeat_until)
