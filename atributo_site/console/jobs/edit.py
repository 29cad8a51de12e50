"""Edit a job's data and options and push it again as a new job; the old one stays as it is."""

from datetime import datetime
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.html import format_html

from atributo_site.console.base.screen import Screen
from atributo_site.console.jobs.detail import PUSHED_AGAIN, job_or_404
from atributo_site.console.push.forms import DUPLICATE, PushForm, push_job, queue_names
from atributo_site.console.push.schema_form import SchemaForm
from atributo_site.console.push.terminal import push_command, push_curl
from atributo_site.core.events import record
from atributo_site.core.models.clock import database_now
from atributo_site.core.redaction import unmasked
from queues.errors import BadPush, DataRefused, QueueNotFound
from queues.models import QueuedJob
from queues.queries.redaction import hiding_of

OF_CODE = {
    "success": "the callback on success",
    "failure": "the callback on failure",
    "back_off": "the retry delay that is set in code, unless you fill it in",
}


def options_of(job: QueuedJob, now: datetime) -> dict[str, Any]:
    """Return the options of a job as texts of the push form, without those that have no value."""
    waits = job.status == "pending" and job.due_at > now
    form = PushForm(
        initial={
            "queue": job.queue.name,
            "priority": job.priority,
            "max_failures": job.max_failures,
            "repeat_times": job.repeat_times,
            "repeat_delay": job.repeat_delay_ms,
            "repeat_until": job.repeat_until,
            "delay_until": job.due_at if waits else None,
            "timeout": job.timeout_ms,
            "sticky_key": job.sticky_key,
            "concurrent": "true" if job.concurrent else None,
            "unique_key": job.unique_key if job.ended_at else None,  # until then it is taken
            **_back_off(job.back_off),
        }
    )
    texts = {name: form[name].value() for name in form.fields}
    return {name: str(text) for name, text in texts.items() if text is not None}


def code_options(job: QueuedJob) -> dict[str, Any]:
    """Return what the form has no field for: callbacks, and a back-off that code works out."""
    given = {"success": job.success, "failure": job.failure, "back_off": job.back_off}
    return {name: code for name, code in given.items() if _is_code(code)}


def _back_off(value: Any) -> dict[str, Any]:
    if _is_code(value):
        return {}
    if not isinstance(value, dict):
        return {"back_off": value}
    strategy = "foxx" if value["strategy"] == "foxx" else ""  # a plain number is doubled, too
    return {"back_off": value["ms"], "strategy": strategy}


def _is_code(value: Any) -> bool:
    return isinstance(value, dict) and "strategy" not in value


class Edit(Screen):
    actions = {"GET": "job.push", "POST": "job.push"}
    template_name = "console/jobs/edit.html"

    def get(self, request: HttpRequest, job_id: str) -> HttpResponse:
        job = job_or_404(job_id)
        return self._render(job, self._form(job), PushForm(options_of(job, database_now())))

    def post(self, request: HttpRequest, job_id: str) -> HttpResponse:
        job = job_or_404(job_id)
        options = options_of(job, database_now())
        form, push = self._form(job), PushForm({**options, **request.POST.dict()})
        try:
            data = unmasked(form.read(request.POST), job.data, hiding_of(job).data(job.data))
            if push.is_valid():
                return self._push(job, data, push)
        except DataRefused as error:
            form.refuse(error)
        except (BadPush, QueueNotFound) as error:
            form.error = str(error)
        return self._render(job, form, push, 400)

    def _form(self, job: QueuedJob) -> SchemaForm:
        return SchemaForm(job.schema(), hiding_of(job).data(job.data))

    def _push(self, job: QueuedJob, data: Any, push: PushForm) -> HttpResponse:
        new, is_new = push_job(push, _name(job), data, **code_options(job))
        if not is_new:
            messages.warning(self.request, DUPLICATE)
        else:
            record(PUSHED_AGAIN, f"job:{job.pk}", job=new)
            sentence = 'Pushed again as <a href="{}">{}</a>; <a href="{}">{}</a> did not change.'
            links = (reverse("atributo:job", args=[new]), new, job.get_absolute_url(), job.pk)
            messages.success(self.request, format_html(sentence, *links))
        return redirect("atributo:job", new)

    def _render(
        self, job: QueuedJob, form: SchemaForm, push: PushForm, status: int = 200
    ) -> HttpResponse:
        self.title = f"Edit {job.pk}"
        return self.show(
            status,
            job=job,
            form=form,
            push=push,
            queue_names=queue_names(),
            kept=[OF_CODE[name] for name in code_options(job)],
            **_equivalents(job, push),
        )


def _equivalents(job: QueuedJob, push: PushForm) -> dict[str, str]:
    """Return command and curl without the data, and without functions, which only Python names."""
    by_name = {name: value for name, value in code_options(job).items() if "function" not in value}
    options = {**by_name, **push.options()}
    queue = push["queue"].value() or job.queue.name
    return {
        "command": push_command(queue, _name(job), "{…}", options),
        "rest": push_curl(queue, _name(job), "…", options),
    }


def _name(job: QueuedJob) -> dict[str, str]:
    return {"mount": job.mount, "name": job.script}
