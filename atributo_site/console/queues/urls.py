"""Map the addresses of the queues screens."""

from django.urls import path

import atributo_site.rest.ids  # noqa: F401  registers <id:...>
from atributo_site.console.queues import actions, detail, list, settings

QUEUE = "queues/<id:name>/"

urlpatterns = [
    path("queues/", list.Queues.as_view(), name="queues"),
    path("queues/pause", actions.PauseAll.as_view(), name="queues-pause"),
    path("queues/resume", actions.ResumeAll.as_view(), name="queues-resume"),
    path(QUEUE, detail.OneQueue.as_view(), name="queue"),
    path(f"{QUEUE}pause", actions.Pause.as_view(), name="queue-pause"),
    path(f"{QUEUE}resume", actions.Resume.as_view(), name="queue-resume"),
    path(f"{QUEUE}scale", settings.Scale.as_view(), name="queue-scale"),
    path(f"{QUEUE}step", settings.Step.as_view(), name="queue-step"),
    path(f"{QUEUE}record-start", settings.RecordStart.as_view(), name="queue-record-start"),
    path(f"{QUEUE}target-age", settings.TargetAge.as_view(), name="queue-target-age"),
    path(f"{QUEUE}retention", settings.Retention.as_view(), name="queue-retention"),
    path(f"{QUEUE}limits", settings.Limits.as_view(), name="queue-limits"),
    path(f"{QUEUE}away", settings.Away.as_view(), name="queue-away"),
    path(f"{QUEUE}delete", actions.Delete.as_view(), name="queue-delete"),
]
