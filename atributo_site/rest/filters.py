"""Filter lists; a misspelt filter, or one that is no such value, is refused."""

from typing import Any

import django_filters
from django_filters.rest_framework import DjangoFilterBackend
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

from atributo_site.core.text import number

OF_EVERY_LIST = ("limit", "cursor")
BOOLEANS = ("true", "false", "1", "0")


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
