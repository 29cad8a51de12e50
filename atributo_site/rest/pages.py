"""Page by key, so that page one million costs as much as page one."""

from typing import Any

from django.core.exceptions import ValidationError as DjangoValidationError
from django.db import DataError
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.pagination import CursorPagination
from rest_framework.request import Request

from atributo_site.rest.ids import as_it_was_asked

WRONG_CURSOR = ValidationError({"cursor": ["This is not a cursor of this list."]})


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
