"""Edit a job's data and push it again as a new job; the old one stays as it is."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.html import format_html

import queues
from allocation.events import record
from allocation.logic.redaction import unmasked
from allocation.models.clock import database_now
from atributo_site.console.job import PUSHED_AGAIN, found
from atributo_site.console.job_options import OF_CODE, beside, options_of
from atributo_site.console.push_form import TWIN, PushForm, queue_names, twin_of
from atributo_site.console.push_terminal import push_command, push_curl
from atributo_site.console.schema_form import SchemaForm
from atributo_site.console.screen import Screen
from queues import doors
from queues.errors import BadPush, DataRefused, QueueNotFound
from queues.hiding import hiding_of
from queues.models import QueuedJob


class Edit(Screen):
    actions = {"GET": "job.push", "POST": "job.push"}
    template_name = "console/job_edit.html"

    def get(self, request: HttpRequest, job_id: str) -> HttpResponse:
        job = found(job_id)
        return self._shown(job, self._form(job), PushForm(options_of(job, database_now())))

    def post(self, request: HttpRequest, job_id: str) -> HttpResponse:
        job = found(job_id)
        was = options_of(job, database_now())
        form, push = self._form(job), PushForm({**was, **request.POST.dict()})
        try:
            data = unmasked(form.read(request.POST), job.data, hiding_of(job).data(job.data))
            if push.is_valid():
                return self._pushed(job, data, push)
        except DataRefused as error:
            form.refuse(error)
        except (BadPush, QueueNotFound) as error:
            form.error = str(error)
        return self._shown(job, form, push, 400)

    def _form(self, job: QueuedJob) -> SchemaForm:
        return SchemaForm(job.schema(), hiding_of(job).data(job.data))

    def _pushed(self, job: QueuedJob, data: Any, push: PushForm) -> HttpResponse:
        queue, twin = queues.get(push.cleaned_data["queue"]), twin_of(push)
        new = doors.push(queue.name, _name(job), data, {**beside(job), **push.options()})
        if new == twin:
            messages.warning(self.request, TWIN)
        else:
            record(PUSHED_AGAIN, f"job:{job.pk}", job=new)
            said = 'Pushed again as <a href="{}">{}</a>; <a href="{}">{}</a> stays as it was.'
            links = (reverse("job", args=[new]), new, job.get_absolute_url(), job.pk)
            messages.success(self.request, format_html(said, *links))
        return redirect("job", new)

    def _shown(
        self, job: QueuedJob, form: SchemaForm, push: PushForm, status: int = 200
    ) -> HttpResponse:
        self.title = f"Edit {job.pk}"
        kept = [OF_CODE[name] for name in beside(job)]
        shown = {"job": job, "form": form, "push": push, "queue_names": queue_names()}
        return self.show(status, kept=kept, **shown, **_equivalents(job, push))


def _equivalents(job: QueuedJob, push: PushForm) -> dict[str, str]:
    """The data is left to the reader, and what only Python can name is left out."""
    by_name = {name: value for name, value in beside(job).items() if "function" not in value}
    options = {**by_name, **push.options()}
    queue = push["queue"].value() or job.queue.name
    return {
        "command": push_command(queue, _name(job), "{…}", options),
        "rest": push_curl(queue, _name(job), "…", options),
    }


def _name(job: QueuedJob) -> dict[str, str]:
    return {"mount": job.mount, "name": job.script}
