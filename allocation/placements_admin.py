"""Raw lists of instances, placements and worker numbers; what changes them is on the screens."""

from django.contrib import admin

from allocation.models import Allocation, Drain, Hold, IdNumber, Instance, PastAllocation, Rebalance
from atributo_site.raw_lists import RawList


@admin.register(Instance)
class InstanceList(RawList):
    view_action = "instance.view"
    newest_first = False
    list_display = ["id", "state", "source", "weight", "capacity", "epoch", "changed_at"]
    list_select_related = ["drain"]
    search_fields = ["id__exact"]
    search_help_text = "The whole id."


@admin.register(Allocation)
class AllocationList(RawList):
    view_action = "allocation.view"
    newest_first = False
    list_display = ["job_id", "instance_id", "epoch", "allocated_at", "strategy", "actor"]
    search_fields = ["job_id__exact"]
    search_help_text = "The whole job id."


@admin.register(PastAllocation)
class PastAllocationList(RawList):
    view_action = "allocation.view"
    list_display = ["job_id", "instance_id", "epoch", "allocated_at", "ended_at", "end_reason"]
    search_fields = ["job_id__exact"]
    search_help_text = "The whole job id."


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
    search_help_text = "The whole id of the instance."


@admin.register(IdNumber)
class IdNumberList(RawList):
    view_action = "job_id.view"
    newest_first = False
    list_display = ["number", "cluster_size", "holder", "high_water_ms", "expires_at"]
