"""Let people in from a browser that they have logged in with, whatever strangers guess.

Wrong passwords lock an account, so anybody who knows a name could keep its owner out. A signed
cookie marks a browser at its log-in; its guesses are counted apart from those of others. It opens
nothing by itself: the password is still asked for. A new password makes it worthless.
"""

import hashlib
import secrets
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.signing import BadSignature, TimestampSigner
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from atributo_site.rest.throttling import Buckets

COOKIE = "known"
SIGNER = TimestampSigner(salt="atributo.known_browser")
KEPT_SECONDS = 180 * 24 * 60 * 60
guesses = Buckets()


def remember(response: HttpResponse, user: Any) -> None:
    """Mark the browser as one that this user has logged in with."""
    response.set_cookie(
        COOKIE,
        SIGNER.sign(f"{secrets.token_hex(8)}.{_mark(user)}"),
        max_age=KEPT_SECONDS,
        path=reverse("admin:login"),  # sent nowhere else
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def may_try(request: HttpRequest | None, credentials: Any = None) -> bool:
    """Tell axes that the lock of the account is not for this browser."""
    browser = _browser(request, (credentials or {}).get("username", ""))
    limit = settings.AXES_FAILURE_LIMIT
    return bool(browser) and guesses.has(browser, limit, per_seconds=3600)


def count_guess(request: HttpRequest, username: str) -> None:
    if browser := _browser(request, username):
        guesses.wait(browser, settings.AXES_FAILURE_LIMIT, per_seconds=3600)


def _browser(request: HttpRequest | None, username: str) -> str:
    """Return the number of a browser that is known for this user; "" for any other."""
    cookie = request.COOKIES.get(COOKIE, "") if request is not None and username else ""
    try:
        number, _, mark = SIGNER.unsign(cookie, max_age=KEPT_SECONDS).partition(".")
    except BadSignature:
        return ""
    users = get_user_model()._default_manager
    user = users.filter(username=username).first()
    return number if user and secrets.compare_digest(mark, _mark(user)) else ""


def _mark(user: Any) -> str:
    """Return a digest that changes with the password."""
    text = f"{user.pk} {user.get_session_auth_hash()}"
    return hashlib.sha256(text.encode()).hexdigest()[:32]
