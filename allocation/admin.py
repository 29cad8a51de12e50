"""Raw lists of instances, placements, worker numbers and events; instances can be changed."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from allocation.instances import availability
from allocation.models import Allocation, Drain, Hold, IdNumber, Instance, PastAllocation, Rebalance
from allocation.placement import drains
from allocation.transactions import admin as transactions_admin  # noqa: E402, F401
from atributo_site.core.models import Event, Lease
from atributo_site.core.retry import retry_busy
from atributo_site.web.raw_lists import RawList, RowAction, WholeNumber, WithReason

OPERATE = "instance.operate"
DRAINS = (
    "They get no new keys, and their keys move away at this pace. Without one, keys leave only"
    " when they are deallocated."
)


class DrainFields(WithReason):
    moves_per_minute = WholeNumber(required=False, min_value=1, max_value=1_000_000)


def _available(row: Instance) -> None:
    retry_busy(lambda: availability.make_available(row.pk))


def _unavailable(row: Instance, reason: str) -> None:
    retry_busy(lambda: availability.make_unavailable(row.pk, reason=reason))


def _drain(row: Instance, reason: str, moves_per_minute: int | None) -> None:
    retry_busy(lambda: drains.drain(row.pk, reason=reason, moves_per_minute=moves_per_minute))


def _restore(row: Instance) -> None:
    retry_busy(lambda: availability.restore(row.pk))


@admin.register(Instance)
class InstanceList(RawList):
    view_action = "instance.view"
    change_action = operate_action = OPERATE
    editable = ("weight", "capacity")
    row_actions = (
        RowAction("available", "Make available", OPERATE, _available),
        RowAction(
            "unavailable",
            "Make unavailable",
            OPERATE,
            _unavailable,
            "They get no new keys and keep those they have.",
            WithReason,
        ),
        RowAction("drain", "Drain", OPERATE, _drain, DRAINS, DrainFields, is_danger=True),
        RowAction("restore", "Restore", OPERATE, _restore),
    )
    newest_first = False
    list_display = ["id", "state", "source", "weight", "capacity", "epoch", "changed_at"]
    list_select_related = ["drain"]
    search_fields = ["id__exact"]
    search_help_text = "The full id."

    def save_changes(self, obj: Instance, changes: dict[str, Any]) -> None:
        if changes:
            retry_busy(lambda: availability.configure(obj.pk, epoch=obj.epoch, **changes))


@admin.register(Allocation)
class AllocationList(RawList):
    view_action = "allocation.view"
    newest_first = False
    list_display = ["job_id", "instance_id", "epoch", "allocated_at", "strategy", "actor"]
    search_fields = ["job_id__exact"]
    search_help_text = "The full key."


@admin.register(PastAllocation)
class PastAllocationList(RawList):
    view_action = "allocation.view"
    list_display = ["job_id", "instance_id", "epoch", "allocated_at", "ended_at", "end_reason"]
    search_fields = ["job_id__exact"]
    search_help_text = "The full key."


@admin.register(Drain)
class DrainList(RawList):
    view_action = "instance.view"
    newest_first = False
    list_display = ["instance_id", "started_at", "deadline_at", "moves_per_minute", "moved"]
    list_display += ["stuck", "done_at"]


@admin.register(Rebalance)
class RebalanceList(RawList):
    view_action = "allocation.view"
    newest_first = False
    list_display = ["id", "started_at", "moves_per_minute", "jobs_at_start", "looked_at", "moved"]
    list_display += ["done_at", "stopped"]


@admin.register(Hold)
class HoldList(RawList):
    view_action = "instance.view"
    list_display = ["id", "instance_id", "kind", "key", "since", "until"]
    search_fields = ["instance_id__exact"]
    search_help_text = "The full id of the instance."


@admin.register(IdNumber)
class IdNumberList(RawList):
    view_action = "job_id.view"
    newest_first = False
    list_display = ["number", "cluster_size", "holder", "high_water_ms", "expires_at"]


@admin.register(Event)
class EventList(RawList):
    view_action = "event.view"
    list_display = ["id", "at", "kind", "subject", "actor", "channel"]
    exclude = ["facts"]
    readonly_fields = ["shown_facts"]
    # Search only what has an index: anything else would read a million rows to find none.
    search_fields = ["subject__exact", "kind__exact"]
    search_help_text = "The full subject or kind."

    def get_search_results(
        self, request: HttpRequest, queryset: Any, search_term: str
    ) -> tuple[Any, bool]:
        """Search kinds or subjects, each by its index: a kind has a dot and no colon."""
        if not search_term:
            return queryset, False
        is_kind = "." in search_term and ":" not in search_term
        return queryset.filter(**{"kind" if is_kind else "subject": search_term}), False


@admin.register(Lease)
class LeaseList(RawList):
    view_action = "lease.view"
    newest_first = False
    search_help_text = "The full role or holder."
    list_display = ["role", "holder", "token", "acquired_at", "renewed_at", "expires_at"]
    search_fields = ["role__exact", "holder__exact"]
