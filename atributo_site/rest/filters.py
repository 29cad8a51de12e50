"""Filter lists; a misspelt filter, or one that is neither true nor false, is refused."""

from typing import Any

import django_filters
from django_filters.rest_framework import DjangoFilterBackend
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

OF_EVERY_LIST = ("limit", "cursor")
BOOLEANS = ("", "true", "false", "1", "0")


class KnownFilters(DjangoFilterBackend):
    """Apply the view's `filterset_class`; allow `more_filters`, which the view reads itself."""

    def filter_queryset(self, request: Request, queryset: Any, view: Any) -> Any:
        filters = getattr(getattr(view, "filterset_class", None), "base_filters", {})
        known = [*filters, *getattr(view, "more_filters", ()), *OF_EVERY_LIST]
        there_are = f"Unknown; there are {', '.join(known)}."
        wrong = {name: [there_are] for name in sorted(set(request.query_params) - set(known))}
        wrong |= {name: ["Must be true or false."] for name in _no_booleans(request, filters)}
        if wrong:
            raise ValidationError(wrong)
        return super().filter_queryset(request, queryset, view)


def _no_booleans(request: Request, filters: dict[str, Any]) -> list[str]:
    return [
        name
        for name, each in filters.items()
        if isinstance(each, django_filters.BooleanFilter)
        and request.query_params.get(name, "").lower() not in BOOLEANS
    ]
