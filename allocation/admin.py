"""Raw lists of what all rooms share."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from allocation.models import Event, Lease
from atributo_site.raw_lists import RawList


@admin.register(Event)
class EventList(RawList):
    view_action = "event.view"
    list_display = ["id", "at", "kind", "subject", "actor", "channel"]
    exclude = ["facts"]
    readonly_fields = ["shown_facts"]
    # Only what has an index: anything else would read a million rows to find none.
    search_fields = ["subject__exact", "kind__exact"]
    search_help_text = "A whole subject or kind."

    def get_search_results(
        self, request: HttpRequest, queryset: Any, search_term: str
    ) -> tuple[Any, bool]:
        """Either by its index: a kind has a dot and no colon, a subject is all else."""
        if not search_term:
            return queryset, False
        is_kind = "." in search_term and ":" not in search_term
        return queryset.filter(**{"kind" if is_kind else "subject": search_term}), False


@admin.register(Lease)
class LeaseList(RawList):
    view_action = "lease.view"
    newest_first = False
    search_help_text = "The whole role or holder."
    list_display = ["role", "holder", "token", "acquired_at", "renewed_at", "expires_at"]
    search_fields = ["role__exact", "holder__exact"]


from allocation import placements_admin  # noqa: E402, F401
from allocation.transactions import admin as transactions_admin  # noqa: E402, F401
