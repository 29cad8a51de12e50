"""List and show operations, which change many jobs in the background, and stop one."""

from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from allocation.models import Drain
from atributo_site.console.base.actions import Action, NothingChanged
from atributo_site.console.system.health import SystemScreen
from atributo_site.core.models import Event
from atributo_site.core.models.clock import database_now
from atributo_site.permissions import may
from atributo_site.web.pagination import page_by_key
from queues.errors import OperationNotFound
from queues.jobs import operations
from queues.models import Operation

PAGE = 50
REFUSALS_SHOWN = 100
DRAINS_SHOWN = 20


class Operations(SystemScreen):
    actions = {"GET": "operation.view"}
    url_name = "system-operations"
    template_name = "console/system/operations.html"
    is_shared = True

    def get(self, request: HttpRequest) -> HttpResponse:
        page = page_by_key(Operation.objects.all(), **self.page_keys, size=PAGE)
        drains = Drain.objects.running().order_by("-started_at")[:DRAINS_SHOWN]
        return self.show(page=page, drains=drains, now=database_now())


class OneOperation(SystemScreen):
    actions = {"GET": "operation.view"}
    url_name = "system-operations"
    template_name = "console/system/operation.html"
    is_shared = True

    def get(self, request: HttpRequest, pk: int) -> HttpResponse:
        row = operation_or_404(pk)
        self.title = f"Operation {row.pk}"
        return self.show(
            row=row,
            refusals=row.refusals.all()[:REFUSALS_SHOWN],
            matching=jobs_url(row.query),
            events=Event.objects.newest_first().filter(subject=f"operation:{row.pk}")[:10],
            now=database_now(),
            may_operate=may(request.user, "operation.operate"),
        )


class AbortOperation(Action):
    actions = {"POST": "operation.operate"}

    def load(self, pk: int) -> None:
        self.row = operation_or_404(pk)

    def act(self) -> str:
        if not operations.abort(self.row.pk):
            raise NothingChanged("It had already finished.")
        return "Stopped. Finished changes stay; the rest is left alone."

    def back(self) -> str:
        return reverse("atributo:operation", args=[self.row.pk])


def operation_or_404(pk: int) -> Operation:
    row = Operation.objects.filter(pk=pk).first()
    if row is None:
        raise OperationNotFound(f"Operation {pk} does not exist.")
    return row


def jobs_url(query: dict[str, Any]) -> str:
    """Return the address of the list of jobs with a stored query."""
    known = {name: value for name, value in query.items() if name != "schedules"}
    asked = {"q" if name == "text" else name: value for name, value in known.items()}
    return f"{reverse('atributo:jobs')}?{urlencode(asked)}"
