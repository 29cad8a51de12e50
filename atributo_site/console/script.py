"""One script: a form made from its schema, run now or pushed, and its last runs."""

import json
import shlex
from typing import Any
from urllib.parse import quote, urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

import queues
from allocation.models.clock import database_now
from atributo_site.console import script_run
from atributo_site.console.job_journal import journals
from atributo_site.console.job_state import job_state
from atributo_site.console.push_form import PushForm, queue_names
from atributo_site.console.schema_example import example
from atributo_site.console.schema_form import SchemaForm, pretty
from atributo_site.console.screen import Screen
from atributo_site.keyset import newest_by_key
from atributo_site.permissions import may
from queues.errors import BadPush, DataRefused, QueueNotFound, ScriptNotFound
from queues.models import QueuedJob, Script
from queues.schema import check

LAST_RUNS = 10
FORGOTTEN = "What came of that run is kept for a day, and no longer there."
NEVER_PUSHED = "A dry run runs now and is never pushed: choose one of the two."


class OneScript(Screen):
    actions = {"GET": "service.view", "POST": "script.run"}
    template_name = "console/script.html"

    def get(self, request: HttpRequest, mount: str, name: str) -> HttpResponse:
        script = found(mount, name)
        if "ran" in request.GET:
            return self._came(script, request.GET["ran"])
        return self.shown(script, SchemaForm(script.schema, _prefilled(request, script)))

    def post(self, request: HttpRequest, mount: str, name: str) -> HttpResponse:
        """Run it now; what came of it has an address, so that a reload runs nothing."""
        script = found(mount, name)
        form = SchemaForm(script.schema)
        try:
            data = form.read(request.POST)
            word = script_run.run(request.user, script, data, dry_run=self._is_dry())
        except DataRefused as error:
            form.refuse(error)
            return self.shown(script, form, status=400)
        return redirect(f"{request.path}?{urlencode({'ran': word})}")

    def _came(self, script: Script, word: str) -> HttpResponse:
        came = script_run.kept(script, word)
        if came is None:
            messages.warning(self.request, FORGOTTEN)
            return redirect("script", script.service.mount, script.name)
        return self.shown(script, SchemaForm(script.schema, came["data"]), came=came)

    def _is_dry(self) -> bool:
        return self.request.POST.get("dry_run") == "yes"

    def shown(
        self,
        script: Script,
        form: SchemaForm,
        *,
        push: PushForm | None = None,
        came: dict[str, Any] | None = None,
        status: int = 200,
    ) -> HttpResponse:
        now = database_now()
        mount = script.service.mount
        self.title = f"{mount}/{script.name}"
        jobs = QueuedJob.objects.visible().of_script(mount, script.name)
        last = newest_by_key(jobs.select_related("queue").defer("data", "result"), LAST_RUNS)
        wrote = came.get("transactions", []) if came else []
        return self.show(
            status,
            now=now,
            script=script,
            service=script.service,
            whole_name=f"{mount}/{script.name}",
            schema_text=pretty(script.schema),
            form=form,
            push=push or PushForm(initial={"queue": "default"}),
            queue_names=queue_names(),
            came=came,
            journals=list(journals(wrote).values()),
            runs=[{"job": job, "state": job_state(job, now)} for job in last],
            terminal=terminal(self.request, script),
            may_run=may(self.request.user, "script.run"),
            may_push=may(self.request.user, "job.push"),
        )


class Push(OneScript):
    """The same form, pushed into a queue."""

    actions = {"POST": "job.push"}

    def post(self, request: HttpRequest, mount: str, name: str) -> HttpResponse:
        script = found(mount, name)
        form, push = SchemaForm(script.schema), PushForm(request.POST)
        try:
            data = form.read(request.POST)
            check(script.schema, data)
            if self._is_dry():
                form.error = NEVER_PUSHED
            elif push.is_valid():
                return self._pushed(script, data, push)
        except DataRefused as error:
            form.refuse(error)
        except (BadPush, QueueNotFound) as error:
            form.error = str(error)
        return self.shown(script, form, push=push, status=400)

    def _pushed(self, script: Script, data: Any, push: PushForm) -> HttpResponse:
        queue = queues.get(push.cleaned_data["queue"])
        name = {"mount": script.service.mount, "name": script.name}
        job_id = queue.push(name, data, **push.options())
        messages.success(self.request, f"Pushed into {queue.name}.")
        return redirect("job", job_id)


def found(mount: str, name: str) -> Script:
    scripts = Script.objects.select_related("service")
    script = scripts.filter(service__mount=mount, name=name).first()
    if script is None:
        raise ScriptNotFound(f"There is no script {name} at {mount}.", script=name)
    return script


def terminal(request: HttpRequest, script: Script) -> dict[str, str]:
    """The same as a curl and as a command, with an example of the data."""
    mount, name = script.service.mount, script.name
    data = json.dumps(example(script.schema), ensure_ascii=False)
    origin = f"{request.scheme}://{request.get_host()}"
    url = f"{origin}/api/v1/services/scripts/{quote(name, safe='')}?{urlencode({'mount': mount})}"
    return {
        "curl": (
            f"curl -X POST -H 'Authorization: Bearer …' -H 'Content-Type: application/json' "
            f"-d {shlex.quote(data)} {shlex.quote(url)}"
        ),
        "run": shlex.join(["manage.py", "script", mount, name, "--data", data]),
        "push": shlex.join(["manage.py", "push", "default", mount, name, "--data", data]),
    }


def _prefilled(request: HttpRequest, script: Script) -> Any:
    """?data-to=… fills the form, so that a filled form can be sent as a link."""
    given = {key: value for key, value in request.GET.items() if key.startswith("data")}
    if not given:
        return None
    try:
        return SchemaForm(script.schema).read(request.GET)
    except DataRefused:
        return None
