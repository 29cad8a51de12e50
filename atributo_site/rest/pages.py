"""Pages by key: page a million costs as much as page one."""

from rest_framework.pagination import CursorPagination


class CursorPages(CursorPagination):
    page_size = 50
    max_page_size = 1000
    page_size_query_param = "limit"
    ordering = "pk"
