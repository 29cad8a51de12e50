"""Raw lists of queues, jobs, attempts and services at /admin/."""

from django.contrib import admin

from atributo_site.raw_lists import RawList
from queues.models import (
    MinuteCount,
    Operation,
    Queue,
    QueuedJob,
    Run,
    Script,
    Service,
    Slot,
    Station,
)


@admin.register(Queue)
class QueueList(RawList):
    view_action = "queue.view"
    list_display = ["name", "max_workers", "paused_at", "when_away", "away_seconds"]
    list_display += ["retention_days", "deleted_at"]
    search_fields = ["name__startswith"]
    newest_first = False


@admin.register(Slot)
class SlotList(RawList):
    view_action = "queue.view"
    list_display = ["queue", "number", "holder", "epoch", "leased_until", "rung_at"]
    list_select_related = ["queue"]
    newest_first = False


@admin.register(Station)
class StationList(RawList):
    view_action = "queue.view"
    list_display = ["instance_id", "served_until", "is_told"]
    newest_first = False


@admin.register(QueuedJob)
class QueuedJobList(RawList):
    view_action = "job.view"
    list_display = ["id", "queue", "mount", "script", "status", "attempt", "due_at", "error"]
    list_display += ["sticky_key", "routed_to"]
    list_filter = ["status"]
    list_select_related = ["queue"]
    search_fields = ["=id"]
    exclude = ["data", "result"]  # the job's page shows them without secrets


@admin.register(Run)
class RunList(RawList):
    view_action = "job.view"
    list_display = ["job", "attempt", "number", "worker", "outcome", "started_at", "ended_at"]
    list_select_related = ["job"]


@admin.register(Service)
class ServiceList(RawList):
    view_action = "service.view"
    list_display = ["mount", "name", "version", "development", "changed_at"]
    exclude = ["configuration"]  # may hold passwords
    newest_first = False


@admin.register(Script)
class ScriptList(RawList):
    view_action = "service.view"
    list_display = ["service", "name", "title", "path"]
    list_select_related = ["service"]
    newest_first = False


@admin.register(Operation)
class OperationList(RawList):
    view_action = "operation.view"
    list_display = ["id", "action", "said", "state", "visited", "changed", "refused", "actor"]
    list_filter = ["state"]


@admin.register(MinuteCount)
class MinuteCountList(RawList):
    view_action = "queue.view"
    list_display = ["queue", "minute", "pushed", "started", "complete", "failed", "retried"]
    list_select_related = ["queue"]
