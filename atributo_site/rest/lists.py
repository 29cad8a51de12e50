"""Filter and page lists.

Pages go by key, so that page one million costs as much as page one. A misspelt filter, or one that
is no such value, is refused.
"""

from typing import Any

import django_filters
from django.core.exceptions import ValidationError as DjangoValidationError
from django.db import DataError
from django_filters.rest_framework import DjangoFilterBackend
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.pagination import CursorPagination
from rest_framework.request import Request

from atributo_site.core.text import number
from atributo_site.rest.ids import as_it_was_asked

WRONG_CURSOR = ValidationError({"cursor": ["This is not a cursor of this list."]})
OF_EVERY_LIST = ("limit", "cursor")
BOOLEANS = ("true", "false", "1", "0")


class CursorPages(CursorPagination):
    page_size = 50
    max_page_size = 1000
    page_size_query_param = "limit"
    ordering = "pk"

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> Any:
        try:
            page: Any = super().paginate_queryset(queryset, request, view)
        except (ValueError, DjangoValidationError, DataError) as error:
            raise WRONG_CURSOR from error  # a position that the key cannot have
        self.base_url = as_it_was_asked(self.base_url or "")
        return page

    def get_page_size(self, request: Request) -> int:
        text = request.query_params.get("limit", str(self.page_size))
        if not (text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= self.max_page_size):
            message = f"Must be a whole number from 1 to {self.max_page_size}."
            raise ValidationError({"limit": [message]})
        return int(text)

    def get_ordering(self, request: Request, queryset: Any, view: Any) -> tuple[str, ...]:
        """Return the view's `ordering`, which must be a unique key or end with one."""
        ordering = getattr(view, "ordering", None) or self.ordering
        return (ordering,) if isinstance(ordering, str) else tuple(ordering)

    def decode_cursor(self, request: Request) -> Any:
        try:
            return super().decode_cursor(request)
        except NotFound as error:
            raise WRONG_CURSOR from error


class KnownFilters(DjangoFilterBackend):
    """Apply the view's `filterset_class`; allow `more_filters`, which the view reads itself."""

    def filter_queryset(self, request: Request, queryset: Any, view: Any) -> Any:
        filters = getattr(getattr(view, "filterset_class", None), "base_filters", {})
        known = [*filters, *getattr(view, "more_filters", ()), *OF_EVERY_LIST]
        there_are = f"Unknown; there are {', '.join(known)}."
        wrong = {name: [there_are] for name in sorted(set(request.query_params) - set(known))}
        wrong |= _unreadable(request, filters)
        if wrong:
            raise ValidationError(wrong)
        if filters.keys().isdisjoint(request.query_params):  # a form would be made for nothing
            return queryset
        return super().filter_queryset(request, queryset, view)


def _unreadable(request: Request, filters: dict[str, Any]) -> dict[str, list[str]]:
    """Return what is wrong with texts that Django would read more generously."""
    wrong = {name: _refusal(each, request.query_params.get(name)) for name, each in filters.items()}
    return {name: [why] for name, why in wrong.items() if why}


def _refusal(each: Any, text: str | None) -> str | None:
    if not text:
        return None
    if isinstance(each, django_filters.BooleanFilter):
        return None if text.lower() in BOOLEANS else "Must be true or false."
    if isinstance(each, django_filters.NumberFilter):
        return None if number(text) is not None else "Must be a number."
    is_moment = isinstance(each, django_filters.IsoDateTimeFilter)
    return "Must be a moment." if is_moment and not text.isascii() else None
