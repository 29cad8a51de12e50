"""Raw lists of queues, jobs, attempts and services; queues and jobs can be changed there."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models.functions import Now
from django.http import HttpRequest

from atributo_site.core.models.clock import database_now
from atributo_site.web.raw_lists import RawList, RowAction, WholeNumber, WithReason
from queues import catalogue
from queues.jobs import actions
from queues.models import (
    Batch,
    Dependency,
    MinuteCount,
    Operation,
    Queue,
    QueuedJob,
    Run,
    Schedule,
    ScheduledRun,
    Script,
    Service,
    Slot,
    Station,
)
from queues.models.queue import MOST_WORKERS
from queues.queries.states import STATES, in_state, job_state


class ScaleFields(forms.Form):
    max_workers = WholeNumber(label="Jobs at once", min_value=1, max_value=MOST_WORKERS)


def _scale(row: Queue, max_workers: int) -> None:
    catalogue.row(row.name)  # a deleted queue would come back
    catalogue.create(row.name, max_workers)


@admin.register(Queue)
class QueueList(RawList):
    view_action = "queue.view"
    operate_action = "queue.operate"
    change_action = "queue.administer"
    editable = (
        "max_workers",
        "target_age_seconds",
        "record_start",
        "retention_days",
        "when_away",
        "away_seconds",
    )
    row_actions = (
        RowAction("pause", "Pause", "queue.operate", lambda row: catalogue.pause(row.name)),
        RowAction("resume", "Resume", "queue.operate", lambda row: catalogue.resume(row.name)),
        RowAction("scale", "Scale", "queue.administer", _scale, form=ScaleFields),
    )
    list_display = ["name", "max_workers", "paused_at", "when_away", "away_seconds"]
    list_display += ["target_age_seconds", "record_start", "retention_days", "deleted_at"]
    search_fields = ["name__startswith"]
    newest_first = False

    def save_changes(self, obj: Queue, changes: dict[str, Any]) -> None:
        """Store each setting by its own function, as the queue's page does."""
        catalogue.row(obj.name)
        away = {name: changes.pop(name, None) for name in ("when_away", "away_seconds")}
        setters: dict[str, Any] = {
            "max_workers": catalogue.create,
            "target_age_seconds": catalogue.set_target_age,
            "record_start": catalogue.set_record_start,
            "retention_days": catalogue.set_retention,
        }
        for name, value in changes.items():
            setters[name](obj.name, value)
        if any(value is not None for value in away.values()):
            catalogue.set_when_away(obj.name, *away.values())

    def subject_of(self, obj: Queue) -> str:
        return f"queue:{obj.name}"


@admin.register(Slot)
class SlotList(RawList):
    view_action = "queue.view"
    list_display = ["queue", "number", "holder", "epoch", "leased_until", "rung_at"]
    exclude = ["notes_key"]
    list_select_related = ["queue"]
    newest_first = False


@admin.register(Station)
class StationList(RawList):
    view_action = "queue.view"
    list_display = ["instance_id", "served_until", "is_told"]
    newest_first = False


RESERVED = "queues_queuedjob.status = 'pending' AND queues_queuedjob.slot_id IS NOT NULL"


class StateFilter(admin.SimpleListFilter):
    """Filter by the states that the page "Jobs" has."""

    title = "state"
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(state, state) for state in (*STATES, "reserved")]

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        if self.value() == "reserved":  # jobs that are waiting to everybody else
            return queryset.extra(where=[RESERVED])  # nosec B610 # a constant condition
        return in_state(queryset, self.value() or "", database_now())


@admin.register(QueuedJob)
class QueuedJobList(RawList):
    view_action = "job.view"
    operate_action = "job.operate"
    row_actions = (
        RowAction(
            "retry",
            "Retry",
            "job.operate",
            lambda row: actions.reset(row.pk),
            "They run again with the same data. The effects of complete jobs happen again.",
        ),
        RowAction(
            "abort",
            "Abort",
            "job.operate",
            lambda row, reason: actions.abort(row.pk, reason=reason),
            "They end as aborted, without callbacks. Running ones are stopped, and jobs that"
            " repeat run no more.",
            WithReason,
            is_danger=True,
        ),
    )
    keys_first = True
    list_display = ["id", "queue", "mount", "script", "state", "attempt", "due_at", "error"]
    list_display += ["sticky_key", "routed_to"]
    list_filter = [StateFilter]
    list_select_related = ["queue"]
    search_fields = ["id"]
    search_help_text = "The full id."
    exclude = ["data", "result"]  # the job's page shows them without secrets

    def get_queryset(self, request: HttpRequest) -> Any:
        """Give each row the moment at which it was read; its state depends on that."""
        return super().get_queryset(request).annotate(read_at=Now())

    def state(self, job: Any) -> str:
        return job_state(job, job.read_at)

    def get_search_results(
        self, request: HttpRequest, queryset: Any, search_term: str
    ) -> tuple[Any, bool]:
        """Search by the number itself: a comparison of texts would read every job."""
        if not search_term:
            return queryset, False
        is_id = search_term.isascii() and search_term.isdigit() and len(search_term) < 19
        return queryset.filter(pk=int(search_term) if is_id else None), False


@admin.register(Run)
class RunList(RawList):
    view_action = "job.view"
    list_display = ["job", "attempt", "number", "worker", "outcome", "started_at", "ended_at"]
    list_select_related = ["job"]


@admin.register(Service)
class ServiceList(RawList):
    view_action = "service.view"
    list_display = ["mount", "name", "version", "development", "changed_at"]
    exclude = ["configuration", "definitions"]  # values and defaults may be passwords
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


@admin.register(Batch)
class BatchList(RawList):
    view_action = "job.view"
    list_display = ["id", "name", "queue", "state", "created_at", "closed_at", "ended_at"]
    list_filter = ["state"]
    list_select_related = ["queue"]


@admin.register(Dependency)
class DependencyList(RawList):
    view_action = "job.view"
    list_display = ["job_id", "after_id", "even_if_failed"]


@admin.register(MinuteCount)
class MinuteCountList(RawList):
    view_action = "queue.view"
    list_display = ["queue", "minute", "pushed", "started", "complete", "failed", "retried"]
    list_select_related = ["queue"]


@admin.register(Schedule)
class ScheduleList(RawList):
    view_action = "schedule.view"
    list_display = ["name", "mount", "script", "queue", "zone", "next_at", "paused_at", "ended_at"]
    exclude = ["data"]  # its page masks what the script's schema calls a secret
    search_fields = ["name__startswith"]
    list_select_related = ["queue"]
    newest_first = False


@admin.register(ScheduledRun)
class ScheduledRunList(RawList):
    view_action = "schedule.view"
    list_display = ["schedule", "slot_at", "kind", "state", "job_id", "dispatched_at", "started_at"]
    list_select_related = ["schedule"]
