"""Handle every request: its id, actor, limits, idle log-out, and a busy database."""

import hashlib
import re
import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import structlog
from django.conf import settings
from django.contrib.auth import logout
from django.core.signing import BadSignature, TimestampSigner
from django.http import HttpRequest, HttpResponse, HttpResponsePermanentRedirect
from django.middleware.common import CommonMiddleware
from django.utils.timezone import now

from atributo_site.core.events import Actor, acting
from atributo_site.pages.mount import path_prefix
from atributo_site.web.error_pages import busy, failure, is_away

SIGNER = TimestampSigner(salt="atributo.idle")
FRESH_SECONDS = 60  # a younger cookie is not written again
ACCEPTED = re.compile(r"[A-Za-z0-9._-]{8,64}")


def request_id_of(given: str) -> str:
    """Return the caller's id if it is harmless, else a new one."""
    return given if ACCEPTED.fullmatch(given) else uuid.uuid4().hex


Next = Callable[[HttpRequest], HttpResponse]
PROBES = ("healthz", "readyz")
log = structlog.get_logger("atributo.requests")


def is_probe(request: HttpRequest) -> bool:
    """Return whether a balancer asks; most paths are told apart without the prefix of the site."""
    path = request.path_info
    return path.endswith(PROBES) and path in {path_prefix() + name for name in PROBES}


class Middleware:
    def __init__(self, get_response: Next) -> None:
        self.get_response = get_response


class RequestIdMiddleware(Middleware):
    """Put an id on every log line of a request and on its answer."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request_id = request_id_of(request.META.get("HTTP_X_REQUEST_ID", ""))
        request.request_id = request_id  # type: ignore[attr-defined]
        with structlog.contextvars.bound_contextvars(request_id=request_id):
            response = self.get_response(request)
            log.info("request", status=response.status_code, **_caller(request))
        response["X-Request-Id"] = request_id
        return response


def _caller(request: HttpRequest) -> dict[str, Any]:
    """Return who asked and from where; events have only the request's id."""
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
    """Answer only the site's own host names, except to probes, which use any address."""

    def process_request(self, request: HttpRequest) -> HttpResponsePermanentRedirect | None:
        return None if is_probe(request) else super().process_request(request)


class BodyLimitMiddleware(Middleware):
    """Refuse a body by its announced length before anything reads it."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        length = request.META.get("CONTENT_LENGTH") or "0"
        if not (length.isascii() and length.isdigit()):
            return failure(request, 400, "The header Content-Length must be a number.")
        if int(length) > settings.ATRIBUTO.body_bytes:
            return failure(request, 413)
        return self.get_response(request)


class ActorMiddleware(Middleware):
    """Make the logged-in user the actor of events; REST replaces it by the token's owner."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if is_probe(request):  # who asks is a question to a database that may be away
            return self.get_response(request)
        name = request.user.get_username() or "anonymous"
        request.asked_by = name  # type: ignore[attr-defined]
        with acting(Actor(name, "browser", request.request_id)):  # type: ignore[attr-defined]
            return self.get_response(request)


class PrivatePagesMiddleware(Middleware):
    """Keep pages out of shared caches, and out of the browser after the log-out."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if not response.has_header("Cache-Control"):
            response["Cache-Control"] = "no-store"
        return response


class BusyDatabaseMiddleware(Middleware):
    """Answer 503 while the database is away or overloaded."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        return busy(request, error) if is_away(error) else None


class IdleMiddleware(Middleware):
    """Log out an idle browser; a page on a wall that refreshes itself is not idle.

    A signed cookie holds the time of the last request, so that reading a page writes nothing.
    """

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if is_probe(request):
            return self.get_response(request)
        if request.user.is_authenticated and is_idle(request):
            logout(request)
        response = self.get_response(request)
        key = request.session.session_key
        if request.user.is_authenticated and key and not _is_fresh(request, key, FRESH_SECONDS):
            _write(response, key)
        return response


def is_idle(request: HttpRequest) -> bool:
    """Say whether the session was last used and last stored longer ago than allowed."""
    key, limit = request.session.session_key or "", settings.ATRIBUTO.idle_minutes * 60
    if _is_fresh(request, key, limit):
        return False
    from django.contrib.sessions.models import Session  # a project may keep them elsewhere

    stored = timedelta(seconds=settings.SESSION_COOKIE_AGE - limit)
    return not Session.objects.filter(pk=key, expire_date__gte=now() + stored).exists()


def _is_fresh(request: HttpRequest, session_key: str, seconds: int) -> bool:
    """Say whether the cookie is of this session and not older than that."""
    try:
        cookie = request.COOKIES.get(_idle_cookie(), "")
        digest = SIGNER.unsign(cookie, max_age=seconds)
    except BadSignature:
        return False
    return digest == _digest(session_key)


def _write(response: HttpResponse, session_key: str) -> None:
    response.set_cookie(
        _idle_cookie(),
        SIGNER.sign(_digest(session_key)),
        max_age=settings.ATRIBUTO.idle_minutes * 60,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def _idle_cookie() -> str:
    return getattr(settings, "IDLE_COOKIE_NAME", "seen")


def _digest(session_key: str) -> str:
    return hashlib.sha256(session_key.encode()).hexdigest()[:32]
