"""Change how often and how long a job repeats, on a page of its own."""

import shlex
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse

from atributo_site.console.base.forms import MomentField, SpanField, TimesField, form_errors
from atributo_site.console.base.terminal import curl
from atributo_site.console.jobs.actions import JobAction
from atributo_site.console.jobs.state import repeat_sentence
from atributo_site.core.models.clock import database_now
from queues.errors import BadSchedule, JobIsRunning, JobRepeatsNot
from queues.jobs.repeating import COLUMNS, reschedule
from queues.logic.lifecycle import FOREVER
from queues.logic.options import CENTURY_MS, MOST_TIMES
from queues.models import QueuedJob

SEEN = "seen-"


class Change(JobAction):
    """Show the form on a page of its own; a refusal leaves there what was typed."""

    actions = {"GET": "job.operate", "POST": "job.operate"}
    template_name = "console/jobs/repetition.html"
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
        self, form: "ScheduleForm", seen: dict[str, Any], status: int = 200, **context: Any
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


class ScheduleForm(forms.Form):
    repeat_delay = SpanField(label="Every", min_value=0, max_value=CENTURY_MS)
    repeat_times = TimesField(label="Repeats", min_value=FOREVER, max_value=MOST_TIMES)
    repeat_until = MomentField(label="Until", required=False)

    def changes(self, seen: Any) -> dict[str, Any]:
        """Return what differs from what the page showed; others may have changed the rest."""
        return {
            name: self.cleaned_data[name]
            for name in COLUMNS
            if self.data.get(name, "").strip() != seen.get(f"{SEEN}{name}")
        }
