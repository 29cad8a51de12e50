"""Edit a job's data and push it again as a new job; the old one stays as it is."""

from typing import Any
from urllib.parse import quote

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.html import format_html

import queues
from allocation.events import record
from atributo_site.console.job import PUSHED_AGAIN, found
from atributo_site.console.push_form import PushForm, queue_names
from atributo_site.console.schema_form import SchemaForm
from atributo_site.console.screen import Screen
from atributo_site.console.terminal import curl
from queues.errors import BadPush, DataRefused, QueueNotFound
from queues.logic.scrub import unmasked
from queues.models import QueuedJob
from queues.shown import hidden

KEPT = {
    "repeat_until": "repeat_until",
    "timeout": "timeout_ms",
    "back_off": "back_off",
    "success": "success",
    "failure": "failure",
    "sticky_key": "sticky_key",
}


class Edit(Screen):
    actions = {"GET": "job.push", "POST": "job.push"}
    template_name = "console/job_edit.html"

    def get(self, request: HttpRequest, job_id: str) -> HttpResponse:
        job = found(job_id)
        return self._shown(job, self._form(job), PushForm(initial=_initial(job)))

    def post(self, request: HttpRequest, job_id: str) -> HttpResponse:
        job = found(job_id)
        form, push = self._form(job), PushForm(request.POST)
        try:
            data = unmasked(form.read(request.POST), job.data)
            if push.is_valid():
                return self._pushed(job, data, push)
        except DataRefused as error:
            form.refuse(error)
        except (BadPush, QueueNotFound) as error:
            form.error = str(error)
        return self._shown(job, form, push, 400)

    def _form(self, job: QueuedJob) -> SchemaForm:
        schema = job.schema()
        return SchemaForm(schema, hidden(job.data, schema))

    def _pushed(self, job: QueuedJob, data: Any, push: PushForm) -> HttpResponse:
        kept = {option: getattr(job, name) for option, name in KEPT.items()}
        given = {option: value for option, value in kept.items() if value is not None}
        queue = queues.get(push.cleaned_data["queue"])
        script = {"mount": job.mount, "name": job.script}
        new = queue.push(script, data, **{**given, **push.options()})
        record(PUSHED_AGAIN, f"job:{job.pk}", job=new)
        said = 'Pushed again as <a href="{}">{}</a>; <a href="{}">{}</a> stays as it was.'
        links = (reverse("job", args=[new]), new, job.get_absolute_url(), job.pk)
        messages.success(self.request, format_html(said, *links))
        return redirect("job", new)

    def _shown(
        self, job: QueuedJob, form: SchemaForm, push: PushForm, status: int = 200
    ) -> HttpResponse:
        self.title = f"Edit {job.pk}"
        shown = {"job": job, "form": form, "push": push, "queue_names": queue_names()}
        return self.show(status, curl=_curl(job), **shown)


def _curl(job: QueuedJob) -> str:
    body = {"script": {"mount": job.mount, "name": job.script}, "data": "…"}
    return curl(f"/api/v1/queues/{quote(job.queue.name, safe='')}/jobs", "POST", body)


def _initial(job: QueuedJob) -> dict[str, Any]:
    return {
        "queue": job.queue.name,
        "max_failures": job.max_failures,
        "repeat_times": job.repeat_times,
        "repeat_delay": job.repeat_delay_ms,
        "priority": job.priority,
    }
