"""Pause, resume, run now, backfill and delete a schedule."""

from shlex import quote
from typing import Any
from urllib.parse import quote as in_path

from django.urls import reverse
from django.utils.html import format_html

from atributo_site.console.base.actions import Action, Confirmation, NothingChanged
from atributo_site.console.base.forms import reason_of
from atributo_site.console.base.terminal import curl
from atributo_site.core.models.clock import database_now
from atributo_site.core.text import pluralize, whole_number
from queues import schedules
from queues.errors import BadSchedule, DataRefused, ScheduleHasEnded
from queues.logic.schedules.errors import BadRule
from queues.logic.schedules.spoken import moment_from
from queues.models import Schedule
from queues.schedules import backfill
from queues.schedules.definition import rule_of

NOTHING_WAITS = "{} has no backfill runs waiting."
NOTHING_LEFT = "Every run of {} in that range has already happened."


class ScheduleAction(Action):
    actions = {"POST": "schedule.operate"}
    refusals = (BadSchedule, BadRule, DataRefused, ScheduleHasEnded)
    schedule: Schedule

    def load(self, name: str) -> None:
        self.schedule = schedules.row(name)

    def back(self) -> str:
        return self.schedule.get_absolute_url()

    def said(self, changed: bool, done: str, otherwise: str) -> str:
        if not changed:
            raise NothingChanged(otherwise.format(self.schedule.name))
        return done.format(self.schedule.name)


class Pause(ScheduleAction):
    def act(self) -> str:
        text = self.request.POST.get("until", "").replace("\x00", "").strip()[:40]
        zone = rule_of(self.schedule).zone if text else None
        until = moment_from(text, zone, database_now()) if zone else None
        name, reason = self.schedule.name, reason_of(self.request)
        changed = schedules.pause(name, reason=reason, until=until)
        return self.said(changed, "Schedule {} is paused.", "Schedule {} was already paused.")


class Resume(ScheduleAction):
    def act(self) -> str:
        changed = schedules.resume(self.schedule.name)
        return self.said(changed, "Schedule {} is resumed.", "Schedule {} was not paused.")


class RunNow(ScheduleAction):
    def act(self) -> str:
        job_id = schedules.run_now(self.schedule.name)
        job = format_html('<a href="{}">job {}</a>', reverse("atributo:job", args=[job_id]), job_id)
        return format_html("One run of {} is pushed as {}.", self.schedule.name, job)


class Backfill(ScheduleAction):
    """Run slots of the past that had no run, or drop those that still wait."""

    def act(self) -> str:
        name, given = self.schedule.name, self.request.POST
        if "stop" in given:
            count = backfill.stop(name)
            return self.said(bool(count), f"{count} runs of {{}} are dropped.", NOTHING_WAITS)
        since, until = (given.get(each, "").replace("\x00", "")[:40] for each in ("since", "until"))
        at_once = whole_number(given.get("at_once", "1"))
        if "preview" in given:
            slots, done = backfill.plan(name, since, until)
            raise NothingChanged(
                f"A backfill of {name} would add {pluralize(len(slots), 'run')}; "
                f"{pluralize(done, 'run')} of that range happened already."
            )
        count = backfill.start(name, since, until, at_once or 0)
        return self.said(bool(count), f"{count} runs of {{}} wait for their turn.", NOTHING_LEFT)


class Delete(Confirmation, ScheduleAction):
    actions = {"GET": "schedule.operate", "POST": "schedule.operate"}
    gone_to = "atributo:schedules"

    def question(self) -> dict[str, Any]:
        name = self.schedule.name
        return {
            "crumbs": [("Schedules", reverse("atributo:schedules")), (name, self.back())],
            "heading": f"Delete schedule {name}",
            "lead": "Its history is deleted with it. Jobs that it has pushed stay.",
            "button": "Delete",
            "leave": "Keep",
            "is_danger": True,
            "command": f"manage.py schedules delete {quote(name)}",
            "rest": curl(f"/api/v1/schedules/{in_path(name, safe='')}", "DELETE"),
        }

    def act(self) -> str:
        schedules.delete(self.schedule.name)
        return f"Schedule {self.schedule.name} is deleted."

    def after(self) -> str:
        return reverse("atributo:schedules")
