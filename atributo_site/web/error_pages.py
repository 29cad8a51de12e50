"""Answer requests that fail before a view: pages for people, problems for programs."""

import sys
from typing import Any

from django.conf import settings
from django.core.exceptions import BadRequest
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import get_token

from atributo_site.core.errors import AtributoError, ConnectionLost, DatabaseBusy
from atributo_site.core.events import has_done_something
from atributo_site.pages.engine import as_text
from atributo_site.pages.mount import is_rest, prefix
from atributo_site.permissions import may
from atributo_site.rest.problems import IN_DOUBT, is_unusable, problem, unusable

THEMES = ("auto", "light", "dark")
THEME_COOKIE = "theme"
DENSITIES = ("compact", "comfortable")
DENSITY_COOKIE = "density"

SENTENCES = {
    400: ("bad_request", "The request could not be understood."),
    403: ("forbidden", "Your role does not allow this."),
    404: ("not_found", "This page does not exist."),
    405: (
        "method_not_allowed",
        "This address has no page of its own. It is used by a button on another page.",
    ),
    409: ("conflict", "Something else changed first. Reload and try again."),
    412: ("precondition_failed", "It has changed in the meantime. Reload and try again."),
    413: ("too_large", "The request body is larger than this site accepts."),
    429: ("too_many_requests", "Too many requests. Wait a moment and try again."),
    500: ("internal_error", "Something went wrong on the server. The error has been logged."),
    503: ("busy", "The database is busy. Try again in a moment."),
}


def look(request: HttpRequest) -> dict[str, Any]:
    """Return how a page looks from the request alone: error pages must not ask the database."""
    theme = request.COOKIES.get(THEME_COOKIE, "")
    density = request.COOKIES.get(DENSITY_COOKIE, "")
    return {
        "badge": settings.ATRIBUTO.badge or settings.ATRIBUTO.mode,
        "theme": theme if theme in THEMES else "auto",
        "themes": THEMES,
        "density": density if density in DENSITIES else DENSITIES[0],
        "densities": DENSITIES,
        "page_url": request.get_full_path() if request.method == "GET" else prefix(),
        "request_id": getattr(request, "request_id", ""),
    }


def failure(
    request: HttpRequest, status: int, detail: str = "", own_code: str = ""
) -> HttpResponse:
    code, sentence = SENTENCES.get(status, ("refused", "This was refused."))
    if is_rest(request):
        return problem(status, own_code or code, detail or sentence)
    context = {**look(request), "status": status, "sentence": detail or sentence}
    page = "" if status == 503 else _framed(request, context)
    return HttpResponse(page or _bare(request, context), status=status)


def _framed(request: HttpRequest, context: dict[str, Any]) -> str:
    """Render the page with the navigation, for somebody who is logged in and has a role."""
    user = getattr(request, "user", None)
    try:
        if user is None or not user.is_authenticated or not may(user, "overview.view"):
            return ""
        return as_text("failure.html", {**context, "base": "base.html"}, request)
    except (DatabaseError, AtributoError):  # what failed may be the database itself
        return ""


def _bare(request: HttpRequest, context: dict[str, Any]) -> str:
    """Render the page without the request's context, which asks a database that may be away."""
    if context["status"] == 403:  # people with the wrong user must be able to log out
        context["csrf_token"] = get_token(request)
    return as_text("failure.html", {**context, "base": "bare.html"})


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Show the message of a BadRequest, which is ours; others may repeat what was sent."""
    return failure(request, 400, str(exception) if isinstance(exception, BadRequest) else "")


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    return failure(request, 403, str(exception))


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return failure(request, 404)


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer any exception, also of middleware; 503 if the database is away."""
    error = sys.exc_info()[1]
    return busy(request, error) if error and is_away(error) else failure(request, 500)


def is_away(error: BaseException) -> bool:
    return isinstance(error, DatabaseBusy) or is_unusable(error)


def busy(request: HttpRequest, error: BaseException) -> HttpResponse:
    """Answer while the database cannot be used, and say what is wrong with it."""
    answer = unusable(error)
    is_lost = isinstance(error, ConnectionLost) and error.in_doubt
    doubt = request.method == "POST" and (is_lost or has_done_something())
    response = failure(request, 503, IN_DOUBT if doubt else answer.detail, answer.code)
    response["Retry-After"] = answer.headers["Retry-After"]
    return response


def csrf(request: HttpRequest, reason: str = "") -> HttpResponse:
    return failure(request, 403, "The form has expired. Reload the page and send it again.")
