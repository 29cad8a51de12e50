"""What happens to every request: an id, an actor, limits and honest answers under load.

The id of a request: on its log lines, its events and its answer.

Idle: a browser that was not heard of for too long is logged out.

A signed cookie says when it was heard of last: to look at a page writes nothing into the database.
"""

import hashlib
import re
import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import structlog
from django.conf import settings
from django.contrib.auth import logout
from django.contrib.sessions.models import Session
from django.core.signing import BadSignature, TimestampSigner
from django.http import HttpRequest, HttpResponse, HttpResponsePermanentRedirect
from django.middleware.common import CommonMiddleware
from django.utils.timezone import now

from atributo_site.core.events import Actor, acting
from atributo_site.web.error_pages import busy, failure, is_away

ACCEPTED = re.compile(r"[A-Za-z0-9._-]{8,64}")


def chosen(given: str) -> str:
    """The caller's id if it is harmless, else a new one."""
    return given if ACCEPTED.fullmatch(given) else uuid.uuid4().hex


Next = Callable[[HttpRequest], HttpResponse]
PROBES = {"/healthz", "/readyz"}
log = structlog.get_logger("atributo.requests")


class Middleware:
    def __init__(self, get_response: Next) -> None:
        self.get_response = get_response


class RequestIdMiddleware(Middleware):
    """On every log line of a request, and in its answer."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request_id = chosen(request.headers.get("X-Request-Id", ""))
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


SIGNER = TimestampSigner(salt="atributo.idle")
FRESH_SECONDS = 60  # a younger cookie is not written again


class IdleMiddleware(Middleware):
    """Requests of a page that refreshes itself count: what is shown on a wall stays there."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.user.is_authenticated and is_idle(request):
            logout(request)
        response = self.get_response(request)
        key = request.session.session_key
        if request.user.is_authenticated and key and not _says(request, key, FRESH_SECONDS):
            _write(response, key)
        return response


def is_idle(request: HttpRequest) -> bool:
    """Whether the request's session was used last, and stored last, longer ago than allowed."""
    key, limit = request.session.session_key or "", settings.ATRIBUTO.idle_minutes * 60
    if _says(request, key, limit):
        return False
    stored = timedelta(seconds=settings.SESSION_COOKIE_AGE - limit)
    return not Session.objects.filter(pk=key, expire_date__gte=now() + stored).exists()


def _says(request: HttpRequest, session_key: str, seconds: int) -> bool:
    """Whether the cookie is of this session and not older than that."""
    try:
        said = SIGNER.unsign(request.COOKIES.get(settings.IDLE_COOKIE_NAME, ""), max_age=seconds)
    except BadSignature:
        return False
    return said == _digest(session_key)


def _write(response: HttpResponse, session_key: str) -> None:
    response.set_cookie(
        settings.IDLE_COOKIE_NAME,
        SIGNER.sign(_digest(session_key)),
        max_age=settings.ATRIBUTO.idle_minutes * 60,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def _digest(session_key: str) -> str:
    return hashlib.sha256(session_key.encode()).hexdigest()[:32]
