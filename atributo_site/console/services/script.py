"""Show one script with a form made from its schema, run it now or push it."""

import json
import shlex
from typing import Any
from urllib.parse import quote, urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from atributo_site.console.base.screen import Screen
from atributo_site.console.base.terminal import curl
from atributo_site.console.jobs.journal import journals
from atributo_site.console.push.forms import (
    DEFAULT_QUEUE,
    DUPLICATE,
    PushForm,
    push_job,
    queue_names,
)
from atributo_site.console.push.schema_example import example
from atributo_site.console.push.schema_fields import PREFIX
from atributo_site.console.push.schema_form import WHOLE, SchemaForm
from atributo_site.console.push.terminal import push_command, push_curl
from atributo_site.console.services import script_runs
from atributo_site.console.services.script_runs import last_runs
from atributo_site.core.models.clock import database_now
from atributo_site.core.redaction import unfilled
from atributo_site.permissions import may
from atributo_site.web.format import pretty_json
from queues.errors import (
    BadPush,
    DataRefused,
    NoWorker,
    OptionsMissing,
    QueueNotFound,
    ScriptNotFound,
)
from queues.logic.flow.limits import parsed
from queues.models import Script
from queues.queries.flows import script_status
from queues.queries.presenters import masked_by_schema
from queues.schema.validation import check

FORGOTTEN = "Results are kept for a day. This one is no longer available."
NEVER_PUSHED = "A dry run cannot be pushed. Choose one of the two."
TOO_LONG = "These values are too long for a link."
LONGEST_ADDRESS = 4000


class OneScript(Screen):
    actions = {"GET": "service.view", "POST": "script.run"}
    template_name = "console/services/script.html"

    def get(self, request: HttpRequest, mount: str, name: str) -> HttpResponse:
        script = script_or_404(mount, name)
        if "ran" in request.GET:
            return self._show_run(script, request.GET["ran"])
        data = _prefilled(request, script)
        return self.render(script, SchemaForm(script.schema, data), data=data)

    def post(self, request: HttpRequest, mount: str, name: str) -> HttpResponse:
        """Run it now and lead to an address with the answer, so that a reload runs nothing."""
        script = script_or_404(mount, name)
        form, push, data = SchemaForm(script.schema), PushForm.filled(request.POST), None
        try:
            data = form.read(request.POST)
            if request.POST.get("link") == "yes":
                return self._linked(script, form, data, push)
            word = script_runs.run(request.user, script, data, dry_run=self._is_dry())
        except DataRefused as error:
            form.refuse(error)
            return self.render(script, form, push=push, data=data, status=400)
        except (NoWorker, OptionsMissing) as error:
            form.error = str(error)
            return self.render(script, form, push=push, data=data, status=error.status_code)
        filled = address(script, None, push, ran=word)
        return redirect(filled or address(script, None, PushForm.filled({}), ran=word))

    def _linked(self, script: Script, form: SchemaForm, data: Any, push: PushForm) -> HttpResponse:
        """Lead to the same page at an address that fills it in, without running anything."""
        if link := address(script, data, push):
            return redirect(link)
        form.error = TOO_LONG
        return self.render(script, form, push=push, data=data, status=400)

    def _show_run(self, script: Script, word: str) -> HttpResponse:
        run = script_runs.kept(script, word)
        if run is None:
            messages.warning(self.request, FORGOTTEN)
            return redirect("atributo:script", script.service.mount, script.name)
        data = run["data"]
        return self.render(script, SchemaForm(script.schema, data), run=run, data=data)

    def _is_dry(self) -> bool:
        return self.request.POST.get("dry_run") == "yes"

    def render(
        self,
        script: Script,
        form: SchemaForm,
        *,
        push: PushForm | None = None,
        run: dict[str, Any] | None = None,
        data: Any = None,
        status: int = 200,
    ) -> HttpResponse:
        now = database_now()
        mount = script.service.mount
        push = push or PushForm.filled(self.request.GET)
        self.title = f"{mount}/{script.name}"
        transactions = run.get("transactions", []) if run else []
        is_given = data is not None or push.is_bound
        return self.show(
            status,
            now=now,
            script=script,
            service=script.service,
            whole_name=f"{mount}/{script.name}",
            schema_text=pretty_json(script.schema),
            form=form,
            push=push,
            queue_names=queue_names(),
            run=run,
            journals=list(journals(transactions).values()),
            runs=last_runs(script, now),
            terminal=terminal(script, data, push),
            address=address(script, data, push) if is_given else "",
            may_run=may(self.request.user, "script.run"),
            limits_said=[limit.said() for limit in parsed(script.limits)],
            limits_json=json.dumps(script.limits) if script.limits else "",
            declared_said=[limit.said() for limit in parsed(script.declared_limits)],
            flow=script_status(mount, script.name),
            may_change=may(self.request.user, "service.administer"),
            may_push=may(self.request.user, "job.push"),
        )


class Push(OneScript):
    """Push the same form into a queue."""

    actions = {"POST": "job.push"}

    def post(self, request: HttpRequest, mount: str, name: str) -> HttpResponse:
        script = script_or_404(mount, name)
        form, push, data = SchemaForm(script.schema), PushForm(request.POST), None
        try:
            data = form.read(request.POST)
            check(script.schema, data)
            if self._is_dry():
                form.error = NEVER_PUSHED
            elif push.is_valid():
                return self._push(script, data, push)
        except DataRefused as error:
            form.refuse(error)
        except (BadPush, QueueNotFound) as error:
            form.error = str(error)
        return self.render(script, form, push=push, data=data, status=400)

    def _push(self, script: Script, data: Any, push: PushForm) -> HttpResponse:
        name = {"mount": script.service.mount, "name": script.name}
        job_id, is_new = push_job(push, name, data)
        if is_new:
            messages.success(self.request, f"Pushed to {push.cleaned_data['queue']}.")
        else:
            messages.warning(self.request, DUPLICATE)
        return redirect("atributo:job", job_id)


def script_or_404(mount: str, name: str) -> Script:
    scripts = Script.objects.select_related("service")
    script = scripts.filter(service__mount=mount, name=name).first()
    if script is None:
        raise ScriptNotFound(f"There is no script {name} at {mount}.", script=name)
    return script


def _prefilled(request: HttpRequest, script: Script) -> Any:
    given = given_data(request)
    if not given:
        return None
    try:
        return SchemaForm(script.schema).read(given)
    except DataRefused:
        return None


def terminal(script: Script, data: Any, push: PushForm) -> dict[str, str]:
    """Return the commands with the given data, without its secrets, or with an example."""
    schema, name = script.schema, {"mount": script.service.mount, "name": script.name}
    masked = example(schema) if data is None else masked_by_schema(data, schema)
    text = json.dumps(masked, ensure_ascii=False)
    queue = push["queue"].value() or DEFAULT_QUEUE
    options = push.options()
    run = f"/api/v1/services/scripts/{quote(script.name, safe='')}"
    return {
        "run": shlex.join(["manage.py", "script", name["mount"], name["name"], "--data", text]),
        "curl": curl(f"{run}?{urlencode({'mount': name['mount']})}", "POST", masked),
        "push": push_command(queue, name, text, options),
        "push_curl": push_curl(queue, name, masked, options),
    }


def address(script: Script, data: Any, push: PushForm, **more: str) -> str:
    """Return an address that fills in the form, without secrets; empty if it would be too long."""
    page = reverse("atributo:script", args=[script.service.mount, script.name])
    typed = {**more, **_fields(script.schema, data), **push.given()}
    url = f"{page}?{urlencode(typed)}" if typed else page
    return url if len(url) <= LONGEST_ADDRESS else ""


def _fields(schema: Any, data: Any) -> dict[str, str]:
    if data is None:
        return {}
    masked = unfilled(masked_by_schema(data, schema))
    form = SchemaForm(schema, masked)
    if form.whole:
        return {WHOLE: json.dumps(masked, ensure_ascii=False)}
    texts = {
        each.input_name: ("yes" if each.checked else "") if each.kind == "checkbox" else each.value
        for each in form.inputs()
    }
    return {name: text for name, text in texts.items() if text}


def given_data(request: HttpRequest) -> dict[str, str]:
    """Return the data in the address, such as ?data-to=…, which fills the form."""
    names = (name for name in request.GET if name == WHOLE or name.startswith(PREFIX))
    return {name: request.GET[name] for name in names}
