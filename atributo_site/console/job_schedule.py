"""Change the schedule of a job that repeats: how often, how many times, until when."""

import shlex
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from allocation.models.clock import database_now
from atributo_site.console.form_errors import said
from atributo_site.console.job import found
from atributo_site.console.job_deeds import Deed
from atributo_site.console.job_state import repeats_said
from atributo_site.console.terminal import curl
from atributo_site.console.time_fields import MomentField, SpanField
from queues.errors import BadSchedule, JobIsRunning, JobRepeatsNot
from queues.logic.lifecycle import FOREVER
from queues.logic.options import CENTURY_MS, MOST_TIMES
from queues.models import QueuedJob
from queues.rescheduling import COLUMNS, reschedule

SEEN = "seen-"


class ScheduleForm(forms.Form):
    repeat_delay = SpanField(label="Every", min_value=0, max_value=CENTURY_MS)
    repeat_times = forms.IntegerField(label="Repeats", min_value=FOREVER, max_value=MOST_TIMES)
    repeat_until = MomentField(label="Until", required=False)

    def changes(self, seen: Any) -> dict[str, Any]:
        """What differs from what the page showed: somebody else may have changed the rest."""
        return {
            name: self.cleaned_data[name]
            for name in COLUMNS
            if self.data.get(name, "").strip() != seen.get(f"{SEEN}{name}")
        }


class Change(Deed):
    """A form on a page of its own; what cannot be is told there, with what was typed."""

    actions = {"GET": "job.operate", "POST": "job.operate"}
    template_name = "console/job_schedule.html"
    gone_to = "schedules"

    def get(self, request: HttpRequest, job_id: str) -> HttpResponse:
        job = found(job_id)
        if not job.repeat_times or job.ended_at is not None:
            raise JobRepeatsNot(f"{job.script} {job.pk} does not repeat, or is over.")
        form = ScheduleForm(initial={name: getattr(job, at) for name, at in COLUMNS.items()})
        seen = {name: form[name].value() for name in COLUMNS}
        return self._shown(job, form, seen)

    def post(self, request: HttpRequest, job_id: str) -> HttpResponse:
        job, form = found(job_id), ScheduleForm(request.POST)
        if not form.is_valid():
            return self._again(job, form, said(form), 400)
        try:
            done = reschedule(job.pk, form.changes(request.POST))
        except (BadSchedule, JobIsRunning, JobRepeatsNot) as error:
            return self._again(job, form, f"{error}.", error.status_code)
        self.tell(job, done, "{} has its new schedule.", "{} had this schedule already.")
        return redirect(self.back(job))

    def _again(self, job: QueuedJob, form: ScheduleForm, refusal: str, status: int) -> HttpResponse:
        seen = {name: self.request.POST.get(f"{SEEN}{name}", "") for name in COLUMNS}
        return self._shown(job, form, seen, refusal, status)

    def _shown(
        self,
        job: QueuedJob,
        form: ScheduleForm,
        seen: dict[str, Any],
        refusal: str = "",
        status: int = 200,
    ) -> HttpResponse:
        now = database_now()
        self.title = f"Schedule of {job.script}"
        return self.show(
            status,
            now=now,
            job=job,
            form=form,
            seen={f"{SEEN}{name}": "" if value is None else value for name, value in seen.items()},
            refusal=refusal,
            repeats=repeats_said(job, now),
            back=self.back(job),
            next=(self.request.POST or self.request.GET).get("next"),
            **equivalents(job),
        )


def equivalents(job: QueuedJob) -> dict[str, str]:
    """With the schedule as it is, to be changed by the reader."""
    until = job.repeat_until.isoformat() if job.repeat_until else None
    body = {"repeat_delay": job.repeat_delay_ms, "repeat_times": job.repeat_times}
    words = ["manage.py", "queued_jobs", "reschedule", str(job.pk)]
    for name, value in {**body, "repeat_until": until or "never"}.items():
        words += [f"--{name.replace('_', '-')}", str(value)]
    rest = curl(f"/api/v1/jobs/{job.pk}", "PATCH", {**body, "repeat_until": until})
    return {"command": shlex.join(words), "rest": rest}
