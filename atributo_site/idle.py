"""Idle: a browser that was not heard of for too long is logged out.

A signed cookie says when it was heard of last: to look at a page writes nothing into the database.
"""

import hashlib
from datetime import timedelta

from django.conf import settings
from django.contrib.auth import logout
from django.contrib.sessions.models import Session
from django.core.signing import BadSignature, TimestampSigner
from django.http import HttpRequest, HttpResponse
from django.utils.timezone import now

from atributo_site.middleware import Middleware

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
