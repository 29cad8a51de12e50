"""What happens to every request: an id, an actor, limits and honest answers under load."""

from collections.abc import Callable
from typing import Any

import structlog
from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponsePermanentRedirect
from django.middleware.common import CommonMiddleware

from allocation.events import Actor, acting
from atributo_site import request_ids
from atributo_site.failures import busy, failure, is_away

Next = Callable[[HttpRequest], HttpResponse]
PROBES = {"/healthz", "/readyz"}
log = structlog.get_logger("atributo.requests")


class Middleware:
    def __init__(self, get_response: Next) -> None:
        self.get_response = get_response


class RequestIdMiddleware(Middleware):
    """On every log line of a request, and in its answer."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request_id = request_ids.chosen(request.headers.get("X-Request-Id", ""))
        request.request_id = request_id  # type: ignore[attr-defined]
        with structlog.contextvars.bound_contextvars(request_id=request_id):
            response = self.get_response(request)
            log.info("request", status=response.status_code, **_asked(request))
        response["X-Request-Id"] = request_id
        return response


def _asked(request: HttpRequest) -> dict[str, Any]:
    """By whom and from where: an event has the request's id, and this line the rest."""
    scope = getattr(request, "auth", None)
    name = scope.token.user.get_username() if scope else getattr(request, "asked_by", "")
    return {
        "method": request.method,
        "path": request.path,
        "address": request.META.get("REMOTE_ADDR", ""),
        "user": name,
        "via": f"token {scope.pk}" if scope else "",
    }


class HostMiddleware(CommonMiddleware):
    """Only the site's own host names are answered; probes ask by whatever address they know."""

    def process_request(self, request: HttpRequest) -> HttpResponsePermanentRedirect | None:
        return None if request.path_info in PROBES else super().process_request(request)


class BodyLimitMiddleware(Middleware):
    """Refuse a body by its announced length, before anything reads it."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        length = request.META.get("CONTENT_LENGTH") or "0"
        if not (length.isascii() and length.isdigit()):
            return failure(request, 400, "The header Content-Length must be a number.")
        if int(length) > settings.ATRIBUTO.body_bytes:
            return failure(request, 413)
        return self.get_response(request)


class ActorMiddleware(Middleware):
    """Events carry the person who is logged in; REST replaces this by the token's owner."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        name = request.user.get_username() or "anonymous"
        request.asked_by = name  # type: ignore[attr-defined]
        with acting(Actor(name, "browser", request.request_id)):  # type: ignore[attr-defined]
            return self.get_response(request)


class PrivatePagesMiddleware(Middleware):
    """No page may stay in a shared cache or in the browser after the log-out."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if not response.has_header("Cache-Control"):
            response["Cache-Control"] = "no-store"
        return response


class BusyDatabaseMiddleware(Middleware):
    """A database that is away or overloaded is 503, not an internal error."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        return busy(request, error) if is_away(error) else None
