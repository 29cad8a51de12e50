"""Map the addresses of the screens of schedules."""

from django.urls import path

import atributo_site.rest.ids  # noqa: F401  registers <id:...>
from atributo_site.console.schedules import actions, detail, edit, list

SCHEDULE = "schedules/by-name/<id:name>/"

urlpatterns = [
    path("schedules/", list.Schedules.as_view(), name="schedules"),
    path("schedules/new/", edit.New.as_view(), name="schedules-new"),
    path(SCHEDULE, detail.OneSchedule.as_view(), name="schedule"),
    path(f"{SCHEDULE}edit/", edit.Edit.as_view(), name="schedule-edit"),
    path(f"{SCHEDULE}pause", actions.Pause.as_view(), name="schedule-pause"),
    path(f"{SCHEDULE}resume", actions.Resume.as_view(), name="schedule-resume"),
    path(f"{SCHEDULE}run", actions.RunNow.as_view(), name="schedule-run"),
    path(f"{SCHEDULE}backfill", actions.Backfill.as_view(), name="schedule-backfill"),
    path(f"{SCHEDULE}delete", actions.Delete.as_view(), name="schedule-delete"),
]
