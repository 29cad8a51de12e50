"""List schedules and the jobs that repeat, with their next and last runs."""

from datetime import datetime
from typing import Any

from django import forms
from django.db.models import F, OuterRef, Q, Subquery, TextField, Value
from django.db.models.functions import Concat
from django.http import HttpRequest, HttpResponse

from atributo_site.console.base.screen import Screen
from atributo_site.console.base.terminal import same_list
from atributo_site.console.jobs.state import job_state, repeat_sentence
from atributo_site.console.push.forms import queue_names
from atributo_site.core.models.clock import database_now
from atributo_site.permissions import may
from atributo_site.web.pagination import page_in_order
from queues.jobs.repeating import last_runs, repeating
from queues.logic.repeats import next_runs
from queues.logic.schedules.words import rule_said
from queues.models import QueuedJob, Run, Schedule, ScheduledRun

PAGE = 50
MOST_CALENDAR = 200
PAUSED = {"yes": "paused", "no": "not paused"}
# An expression keeps the database from using the index of all jobs of a script.
WHOLE_NAME = Concat("mount", Value("/"), "script", output_field=TextField())


class Schedules(Screen):
    actions = {"GET": "job.view"}
    template_name = "console/schedules/list.html"
    is_shared = True
    title = "Schedules"

    def get(self, request: HttpRequest) -> HttpResponse:
        now = database_now()
        form = ScheduleFilter(request.GET)
        rows = form.of(repeating().select_related("queue").defer("data", "result"))
        page = page_in_order(rows, "due_at", **self.page_keys, size=PAGE)
        runs = last_runs([job.pk for job in page.rows])
        return self.show(
            200,
            now=now,
            page=page,
            rows=[line(job, runs[job.pk], now) for job in page.rows],
            form=form,
            filtered=form.is_filled(),
            queue_names=queue_names(),
            may_operate=may(request.user, "job.operate"),
            may_push=may(request.user, "schedule.operate"),
            **by_the_calendar(),
            **form.equivalents(),
        )


def by_the_calendar() -> dict[str, Any]:
    """Return schedules by the calendar with the last run of each, by two queries."""
    schedules = Schedule.objects.select_related("queue").defer("data", "options", "declared")
    newest = ScheduledRun.objects.filter(schedule=OuterRef("pk")).order_by("-slot_at", "-id")
    rows = list(
        schedules.annotate(last=Subquery(newest.values("pk")[:1])).order_by(
            F("next_at").asc(nulls_last=True), "name"
        )[: MOST_CALENDAR + 1]
    )
    shown = rows[:MOST_CALENDAR]
    last = ScheduledRun.objects.in_bulk([row.last for row in shown if row.last])
    lines = [
        {"schedule": row, "rule": rule_said(row.rule), "last": last.get(row.last)} for row in shown
    ]
    return {"calendar": lines, "calendar_more": len(rows) > MOST_CALENDAR}


def line(job: QueuedJob, runs: list[Run], now: datetime) -> dict[str, Any]:
    state = job_state(job, now)
    return {
        "job": job,
        "state": "waiting" if state == "delayed" else state,  # a repeating job always waits
        "sentence": repeat_sentence(job, now),
        "next": ahead(job, now),
        "runs": [(run.outcome, run.started_at) for run in runs],
    }


def ahead(job: QueuedJob, now: datetime) -> list[datetime]:
    """Return the next runs; none while it runs, and a late one may start now."""
    if job.status != "pending":
        return []
    first = max(job.due_at, now)
    return next_runs(first, job.repeat_delay_ms, job.repeat_times, job.runs, job.repeat_until)


class ScheduleFilter(forms.Form):
    queue = forms.CharField(required=False, max_length=255, strip=False)
    script = forms.CharField(required=False, max_length=384)
    paused = forms.ChoiceField(required=False, choices=[("", "any"), *PAUSED.items()])

    def of(self, jobs: Any) -> Any:
        """Return the jobs that match; none while the filter is wrong."""
        if not self.is_valid():
            return jobs.none()
        queue, script, paused = (self.cleaned_data[name] for name in ("queue", "script", "paused"))
        if queue:
            jobs = jobs.filter(queue__name=queue)
        if "/" in script:
            jobs = jobs.alias(whole_name=WHOLE_NAME).filter(whole_name=script)
        elif script:
            jobs = jobs.filter(script=script)
        return jobs.filter(Q(paused_at__isnull=paused == "no")) if paused else jobs

    def is_filled(self) -> bool:
        return any(self[name].value() for name in self.fields)

    def equivalents(self) -> dict[str, str]:
        """Return command and curl; only REST filters by script, too."""
        given = self.cleaned_data if self.is_valid() else {}
        queue, script = given.get("queue", ""), given.get("script", "")
        mount, _, name = script.rpartition("/")
        filters = {"repeating": "true", "queue": queue, "mount": mount, "script": name}
        command = "manage.py queued_jobs list --repeating"
        return same_list("/api/v1/jobs", filters, command, {"--queue": queue})
