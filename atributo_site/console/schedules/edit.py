"""Create a schedule or change one, with a look at its next runs before anything is stored."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from atributo_site.console.base.screen import Screen
from atributo_site.console.base.terminal import curl
from atributo_site.console.push.forms import queue_names
from atributo_site.console.schedules.forms import CalendarForm, all_zones
from atributo_site.core.errors import AtributoError
from atributo_site.core.models.clock import database_now
from queues import schedules
from queues.errors import DataRefused
from queues.models import Schedule
from queues.schedules.presenting import preview

NEW_COMMAND = "manage.py schedules create nightly /mailer/send-mail --cron '0 9 * * mon-fri'"
NEW_BODY = {
    "name": "nightly",
    "script": {"mount": "/mailer", "name": "send-mail"},
    "rule": {"cron": "0 9 * * mon-fri"},
    "zone": "Europe/Berlin",
}
BEGINNING = {"zone": "UTC", "queue": "default", "ends": "forever", "overlap": "skip"}


class New(Screen):
    """A form of its own: its first button creates the schedule and never runs a script."""

    actions = {"GET": "schedule.operate", "POST": "schedule.operate"}
    template_name = "console/schedules/form.html"
    title = "New schedule"
    schedule: Schedule | None = None

    def get(self, request: HttpRequest) -> HttpResponse:
        given = {name: request.GET[name] for name in ("script", "when") if request.GET.get(name)}
        return self._show_form(CalendarForm(initial={**BEGINNING, **given}, now=database_now()))

    def post(self, request: HttpRequest) -> HttpResponse:
        return self._submitted(CalendarForm(request.POST, initial=BEGINNING, now=database_now()))

    def _submitted(self, form: CalendarForm) -> HttpResponse:
        if not form.is_valid():
            return self._show_form(form, 400)
        try:
            if "preview" in self.request.POST:
                return self._show_form(form, preview=preview(form.given(), form.now, self.schedule))
            return self._store(form)
        except DataRefused as error:
            form.refuse_data(error)
            return self._show_form(form, error.status_code)
        except AtributoError as error:
            if error.status_code >= 500:
                raise
            return self._show_form(form, error.status_code, refusal=f"{error}.")

    def _store(self, form: CalendarForm) -> HttpResponse:
        made = schedules.create(form.cleaned_data["name"], **form.given())
        messages.success(self.request, f"Schedule {made.name} is created.")
        return redirect(made)

    def _show_form(self, form: CalendarForm, status: int = 200, **context: Any) -> HttpResponse:
        equivalents = {"command": NEW_COMMAND, "rest": curl("/api/v1/schedules", "POST", NEW_BODY)}
        return self.show(
            status,
            form=form,
            schedule=self.schedule,
            zone_names=all_zones(),
            queue_names=queue_names(),
            **equivalents,
            **context,
        )


class Edit(New):
    title = "Edit schedule"

    def get(self, request: HttpRequest, name: str = "") -> HttpResponse:
        self.schedule = schedules.row(name)
        return self._show_form(CalendarForm.of(self.schedule, database_now()))

    def post(self, request: HttpRequest, name: str = "") -> HttpResponse:
        self.schedule = schedules.row(name)
        initial = {**CalendarForm.of(self.schedule, database_now()).initial}
        form = CalendarForm(request.POST, initial=initial, now=database_now())
        form.fields["name"].disabled = True
        return self._submitted(form)

    def _store(self, form: CalendarForm) -> HttpResponse:
        assert self.schedule is not None
        name = self.schedule.name
        changed = schedules.change(name, **form.given())
        said = (
            f"Schedule {name} is changed."
            if changed
            else f"Nothing differs, so schedule {name} did not change."
        )
        messages.success(self.request, said)
        return redirect(self.schedule)
