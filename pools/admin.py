"""Raw lists of watched names and of what became of them; screens and REST change them."""

from django.contrib import admin

from atributo_site.web.raw_lists import RawList
from pools.models import Backend, BackendChange, Pool, PoolSnapshot


@admin.register(Pool)
class PoolList(RawList):
    view_action = "pool.view"
    newest_first = False
    list_name = "Watched names"
    list_display = ["name", "domain", "service", "state", "state_since", "stale_since", "next_at"]
    list_filter = ["state", "is_watched"]
    search_fields = ["name__exact", "domain__exact"]
    search_help_text = "The full name or domain."

    def subject_of(self, obj: Pool) -> str:
        return f"pool:{obj.name}"


@admin.register(Backend)
class BackendList(RawList):
    view_action = "pool.view"
    list_display = ["instance_id", "pool", "name", "state", "administrative", "seen_at"]
    list_filter = ["state", "administrative"]
    list_select_related = ["pool"]
    search_fields = ["instance_id__exact", "key__exact", "name__exact"]
    search_help_text = "The full instance, backend key or name."


@admin.register(BackendChange)
class BackendChangeList(RawList):
    view_action = "pool.view"
    list_name = "Changes in DNS"
    list_display = ["id", "at", "pool", "kind", "backend", "detail", "actor"]
    list_filter = ["kind"]
    list_select_related = ["pool"]
    search_fields = ["key__exact", "pool__name__exact"]
    search_help_text = "The full key of a backend, or the name of a pool."


@admin.register(PoolSnapshot)
class PoolSnapshotList(RawList):
    view_action = "pool.view"
    list_name = "Reports of live pools"
    list_display = ["process", "at"]
    search_fields = ["process__exact"]
    search_help_text = "The full name of the process."
