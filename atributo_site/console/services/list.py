"""List the installed services, and install one."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from atributo_site.console.base.screen import Screen
from atributo_site.console.services.forms import InstallForm, options_of
from atributo_site.permissions import may
from queues.errors import BadMount, BadService, LifecycleScriptFailed, MountTaken, NoWorker
from queues.models import Service
from queues.services import installation
from queues.services.bundle import available

MOST = 200
REFUSALS = (BadMount, BadService, LifecycleScriptFailed, MountTaken, NoWorker)


class Services(Screen):
    actions = {"GET": "service.view", "POST": "service.administer"}
    template_name = "console/services/list.html"
    title = "Services"

    def get(self, request: HttpRequest) -> HttpResponse:
        return self._render(InstallForm())

    def post(self, request: HttpRequest) -> HttpResponse:
        form = InstallForm(request.POST)
        if not form.is_valid():
            return self._render(form, status=400)
        given: dict[str, Any] = form.cleaned_data
        try:
            service = installation.install(
                given["folder"],
                given["mount"],
                configuration=options_of(given["configuration"]),
                development=given["development"],
            )
        except REFUSALS as error:
            return self._render(form, str(error), error.status_code)
        messages.success(
            request, f"{service.name} {service.version} is installed at {service.mount}."
        )
        return redirect("atributo:service", service.mount)

    def _render(self, form: InstallForm, refusal: str = "", status: int = 200) -> HttpResponse:
        return self.show(
            status,
            services=Service.objects.prefetch_related("scripts")[:MOST],
            folders=available(),
            form=form,
            refusal=refusal,
            may_administer=may(self.request.user, "service.administer"),
        )
