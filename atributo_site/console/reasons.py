"""Why somebody does something, as it was typed."""

from django.http import HttpRequest

LONGEST_REASON = 2000


def reason_of(request: HttpRequest, longest: int = LONGEST_REASON) -> str:
    """Of the form that was sent; PostgreSQL stores no NUL."""
    return request.POST.get("reason", "").replace("\x00", "").strip()[:longest]
