"""List the jobs that repeat with their next and last runs, and change a schedule."""

import shlex
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse

from atributo_site.console.base.forms import form_errors
from atributo_site.console.base.screen import Screen
from atributo_site.console.base.terminal import curl
from atributo_site.console.jobs.actions import JobAction
from atributo_site.console.jobs.forms import SEEN, ScheduleFilter, ScheduleForm
from atributo_site.console.jobs.state import job_state, repeat_sentence
from atributo_site.console.push.forms import queue_names
from atributo_site.core.models.clock import database_now
from atributo_site.permissions import may
from atributo_site.web.pagination import page_in_order
from queues.errors import BadSchedule, JobIsRunning, JobRepeatsNot
from queues.jobs.schedules import COLUMNS, last_runs, repeating, reschedule
from queues.logic.lifecycle import FOREVER
from queues.logic.repeats import next_runs
from queues.models import QueuedJob, Run, Script

PAGE = 50
MOST_SCRIPTS = 200
BEGINNING = urlencode({"repeat_times": FOREVER, "repeat_delay": "1h"})


class Schedules(Screen):
    actions = {"GET": "job.view"}
    template_name = "console/jobs/schedules.html"
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
            may_push=may(request.user, "job.push"),
            **form.equivalents(),
        )


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


class New(Screen):
    """Choose a script; its push form follows with the part for repeats filled in."""

    actions = {"GET": "job.push"}
    template_name = "console/jobs/schedule_new.html"
    title = "New schedule"

    def get(self, request: HttpRequest) -> HttpResponse:
        scripts = Script.objects.select_related("service").order_by("service__mount", "name")
        rows = list(scripts.defer("schema", "defaults")[: MOST_SCRIPTS + 1])
        return self.show(
            scripts=rows[:MOST_SCRIPTS], more=len(rows) > MOST_SCRIPTS, beginning=BEGINNING
        )


class Change(JobAction):
    """Show the form on a page of its own; a refusal leaves there what was typed."""

    actions = {"GET": "job.operate", "POST": "job.operate"}
    template_name = "console/jobs/schedule.html"
    gone_to = "atributo:schedules"
    refusals = (BadSchedule, JobIsRunning, JobRepeatsNot)

    def get(self, request: HttpRequest, job_id: str) -> HttpResponse:
        self.load(job_id)
        job = self.job
        if not job.repeat_times or job.ended_at is not None:
            raise JobRepeatsNot(f"{job.script} {job.pk} does not repeat or has ended.")
        form = ScheduleForm(initial={name: getattr(job, at) for name, at in COLUMNS.items()})
        return self._render(form, {name: form[name].value() for name in COLUMNS})

    def post(self, request: HttpRequest, **names: Any) -> HttpResponse:
        self.load(**names)
        self.form = ScheduleForm(request.POST)
        return (
            self.perform()
            if self.form.is_valid()
            else self._render_again(form_errors(self.form), 400)
        )

    def act(self) -> str:
        changed = reschedule(self.job.pk, self.form.changes(self.request.POST))
        done, otherwise = "{} has a new schedule.", "{} already had this schedule."
        return self.sentence(changed, done, otherwise)

    def refuse(self, error: Any) -> HttpResponse:
        return self._render_again(f"{error}.", error.status_code)

    def _render_again(self, refusal: str, status: int) -> HttpResponse:
        seen = {name: self.request.POST.get(f"{SEEN}{name}", "") for name in COLUMNS}
        return self._render(self.form, seen, status, refusal=refusal)

    def _render(
        self, form: ScheduleForm, seen: dict[str, Any], status: int = 200, **context: Any
    ) -> HttpResponse:
        now = database_now()
        self.title = f"Schedule of {self.job.script}"
        return self.show(
            status,
            now=now,
            job=self.job,
            form=form,
            seen={f"{SEEN}{name}": "" if value is None else value for name, value in seen.items()},
            repeats=repeat_sentence(self.job, now),
            back=self.back(),
            next=(self.request.POST or self.request.GET).get("next"),
            **equivalents(self.job),
            **context,
        )


def equivalents(job: QueuedJob) -> dict[str, str]:
    """Return command and curl with the present schedule, for the reader to change."""
    until = job.repeat_until.isoformat() if job.repeat_until else None
    body = {"repeat_delay": job.repeat_delay_ms, "repeat_times": job.repeat_times}
    words = ["manage.py", "queued_jobs", "reschedule", str(job.pk)]
    for name, value in {**body, "repeat_until": until or "never"}.items():
        words += [f"--{name.replace('_', '-')}", str(value)]
    rest = curl(f"/api/v1/jobs/{job.pk}", "PATCH", {**body, "repeat_until": until})
    return {"command": shlex.join(words), "rest": rest}
