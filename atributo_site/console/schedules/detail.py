"""The page of one schedule: next runs, a month, and what was expected against what happened."""

import shlex
from typing import Any
from urllib.parse import quote

from django.http import HttpRequest, HttpResponse

from atributo_site.console.base.screen import Screen
from atributo_site.console.base.terminal import curl
from atributo_site.console.schedules.month import month_of
from atributo_site.core.models.clock import database_now
from atributo_site.core.text import written
from atributo_site.permissions import may
from atributo_site.web.format import duration
from queues import schedules
from queues.errors import BadSchedule
from queues.logic.schedules.policies import OVERLAP_SAID, Overlap
from queues.logic.schedules.words import rule_said
from queues.models import Schedule, ScheduledRun
from queues.queries.presenters import masked_by_schema
from queues.schedules.backfill import waiting
from queues.schedules.presenting import AHEAD, late_seconds, schema_of, upcoming

LAST_RUNS = 50


class OneSchedule(Screen):
    actions = {"GET": "schedule.view"}
    template_name = "console/schedules/detail.html"
    is_shared = True

    def get(self, request: HttpRequest, name: str) -> HttpResponse:
        schedule, now = schedules.row(name), database_now()
        self.title = schedule.name
        runs = list(schedule.expected_runs.all()[:LAST_RUNS])
        return self.show(
            now=now,
            schedule=schedule,
            rule=rule_said(schedule.rule),
            policies=policies(schedule),
            data=masked_by_schema(schedule.data, schema_of(schedule)),
            runs=[line(run) for run in runs],
            month=month_of(schedule, request.GET.get("month", ""), now),
            backfill_waits=waiting(schedule),
            may_operate=may(request.user, "schedule.operate"),
            command=f"manage.py schedules show {shlex.quote(schedule.name)}",
            rest=curl(f"/api/v1/schedules/{quote(schedule.name, safe='')}"),
            **next_runs(schedule, now),
        )


def next_runs(schedule: Schedule, now: Any) -> dict[str, Any]:
    try:
        return {"ahead": upcoming(schedule, now, AHEAD)}
    except BadSchedule as error:  # its zone is gone
        return {"ahead": [], "trouble": str(error)}


def line(run: ScheduledRun) -> dict[str, Any]:
    late = late_seconds(run)
    return {
        "run": run,
        "job_id": None if run.job_id is None else str(run.job_id),
        "late": "" if late is None else f"late by {duration(late)}",
    }


def policies(schedule: Schedule) -> list[str]:
    """Say what the schedule does when something is not as usual."""
    overlap = OVERLAP_SAID[Overlap(schedule.overlap)]
    said = [
        f"If the earlier run is unfinished: {overlap}",
        f"After an outage: catch up on runs of the last {written(schedule.catch_up_ms)}",
        f"An incident if a run has not begun after {written(schedule.grace_ms)}",
    ]
    if schedule.jitter_ms:
        said.append(f"Each run begins up to {written(schedule.jitter_ms)} later")
    if schedule.pause_after_failures:
        said.append(f"Paused after {schedule.pause_after_failures} failures in a row")
    return said
