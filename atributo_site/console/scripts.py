"""Services and scripts: install, look, and run a script from a form made of its schema."""

import json
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

import queues
from allocation.models.clock import database_now
from atributo_site.console.schema_form import data_from, fields_of
from atributo_site.console.screen import Screen
from queues import installation
from queues.bundle import available
from queues.errors import BadPush, DataRefused, ScriptFailed, ScriptNotFound
from queues.models import QueuedJob, Script, Service
from queues.run_now import run_script
from queues.shown import configuration_shown


class Services(Screen):
    actions = {"GET": "service.view", "POST": "service.administer"}
    template_name = "console/services.html"
    title = "Services"

    def get(self, request: HttpRequest) -> HttpResponse:
        installed = Service.objects.prefetch_related("scripts")
        return self.show(services=installed, folders=available(), now=database_now())

    def post(self, request: HttpRequest) -> HttpResponse:
        mount = request.POST.get("mount", "")
        installation.install(request.POST.get("folder", ""), mount)
        messages.success(request, f"The service is installed at {mount}.")
        return redirect("service", mount)


class OneService(Screen):
    actions = {"GET": "service.view"}
    template_name = "console/service.html"

    def get(self, request: HttpRequest, mount: str) -> HttpResponse:
        service = installation.found(mount)
        return self.show(
            title=mount,
            service=service,
            scripts=service.scripts.order_by("name"),
            configuration=configuration_shown(service),
            warnings=installation.warnings_of(service),
            now=database_now(),
        )


class Uninstall(Screen):
    actions = {"POST": "service.administer"}

    def post(self, request: HttpRequest, mount: str) -> HttpResponse:
        installation.uninstall(mount, force=bool(request.POST.get("force")))
        messages.success(request, f"The service at {mount} is gone.")
        return redirect("services")


class DevelopmentMode(Screen):
    actions = {"POST": "service.administer"}

    def post(self, request: HttpRequest, mount: str) -> HttpResponse:
        installation.set_development(mount, request.POST.get("on") == "yes")
        return redirect("service", mount)


class RunScript(Screen):
    """Now, with its result on the page, or as a job of a queue."""

    actions = {"GET": "service.view", "POST": "script.run"}
    template_name = "console/script.html"

    def get(self, request: HttpRequest, mount: str, name: str) -> HttpResponse:
        return self._page(_script(mount, name))

    def post(self, request: HttpRequest, mount: str, name: str) -> HttpResponse:
        script = _script(mount, name)
        try:
            data = data_from(script.schema, request.POST)
            if request.POST.get("queue"):
                return self._pushed(script, data)
            ran = run_script(mount, name, data)
        except (DataRefused, BadPush, ScriptFailed) as error:
            return self._page(script, error=error, status=error.status_code)
        return self._page(script, ran=ran, result=json.dumps(ran.result, indent=2))

    def _pushed(self, script: Script, data: Any) -> HttpResponse:
        queue = queues.get(self.request.POST["queue"])
        job_id = queue.push({"mount": script.service.mount, "name": script.name}, data)
        messages.success(self.request, "The job is pushed.")
        return redirect("job", job_id)

    def _page(self, script: Script, status: int = 200, **context: Any) -> HttpResponse:
        from atributo_site.console.jobs import queues_there

        jobs = QueuedJob.objects.visible().of_script(script.service.mount, script.name)
        return self.show(
            status,
            title=script.title,
            script=script,
            fields=fields_of(script.schema, self.request.POST),
            queues=[queue.name for queue in queues_there()],
            last=jobs.select_related("queue").order_by("-pk")[:10],
            now=database_now(),
            **context,
        )


def _script(mount: str, name: str) -> Script:
    service = installation.found(mount)
    script = service.scripts.select_related("service").filter(name=name).first()
    if script is None:
        raise ScriptNotFound(f"service {mount} has no script {name}", script=name)
    return script
