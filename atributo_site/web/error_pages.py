"""Answer requests that fail before a view: pages for people, problems for programs."""

import sys
from typing import Any

import structlog
from django.conf import settings
from django.core.exceptions import BadRequest
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import get_token
from django.template.loader import render_to_string

from atributo_site.core.errors import ConnectionLost, DatabaseBusy
from atributo_site.core.events import has_done_something
from atributo_site.core.retry import refuses_to_write
from atributo_site.rest.problems import IN_DOUBT, problem

THEMES = ("auto", "light", "dark")
THEME_COOKIE = "theme"
AWAY = (OperationalError, InterfaceError, DatabaseBusy)
log = structlog.get_logger("atributo.requests")

SENTENCES = {
    400: ("bad_request", "The request could not be understood."),
    403: ("forbidden", "Your role does not allow this."),
    404: ("not_found", "There is nothing at this address."),
    405: (
        "method_not_allowed",
        "Nothing is shown at this address: a button on another page uses it.",
    ),
    409: ("conflict", "Something else came first; look again and repeat."),
    412: ("precondition_failed", "It has changed meanwhile; look again and repeat."),
    413: ("too_large", "The request body is larger than this site accepts."),
    429: ("too_many_requests", "Too many requests; wait a moment and try again."),
    500: ("internal_error", "Something went wrong here; it has been logged."),
    503: ("busy", "The database is busy; try again in a moment."),
}


def look(request: HttpRequest) -> dict[str, Any]:
    """Return how a page looks from the request alone: error pages must not ask the database."""
    theme = request.COOKIES.get(THEME_COOKIE, "")
    return {
        "badge": settings.ATRIBUTO.badge or settings.ATRIBUTO.mode,
        "theme": theme if theme in THEMES else "auto",
        "themes": THEMES,
        "page_url": request.get_full_path() if request.method == "GET" else "/",
        "request_id": getattr(request, "request_id", ""),
    }


def failure(request: HttpRequest, status: int, detail: str = "") -> HttpResponse:
    code, sentence = SENTENCES.get(status, ("refused", "This was refused."))
    if request.path.startswith("/api/"):
        return problem(status, code, detail or sentence)
    context = {**look(request), "status": status, "sentence": detail or sentence}
    if status == 403:  # people with the wrong user must be able to log out
        context["csrf_token"] = get_token(request)
    # Without the request's context, which asks a database that may be away.
    return HttpResponse(render_to_string("failure.html", context), status=status)


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
    return isinstance(error, AWAY) or refuses_to_write(error)


def busy(request: HttpRequest, error: BaseException) -> HttpResponse:
    log.warning("database_busy", error=str(error))
    is_lost = isinstance(error, ConnectionLost) and error.in_doubt
    doubt = request.method == "POST" and (is_lost or has_done_something())
    response = failure(request, 503, IN_DOUBT if doubt else "")
    response["Retry-After"] = "1"
    return response


def csrf(request: HttpRequest, reason: str = "") -> HttpResponse:
    return failure(request, 403, "The form has expired; reload the page and send it again.")
