"""Log in, log out and change one's password; each records an event.

Wrong passwords lock an account, so anybody who knows a name could keep its owner out. A signed
cookie marks a browser at its log-in; its guesses are counted apart from those of others. It opens
nothing by itself: the password is still asked for. A new password makes it worthless.
"""

import hashlib
import secrets
from datetime import timedelta
from math import ceil
from typing import Any

from axes.handlers.proxy import AxesProxyHandler
from axes.helpers import get_cool_off
from axes.models import AccessAttempt
from django.conf import settings
from django.contrib.auth import get_user_model, views
from django.contrib.auth.forms import AuthenticationForm
from django.core.signing import BadSignature, TimestampSigner
from django.db.models import Max, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse, reverse_lazy
from django.utils.decorators import method_decorator
from django.utils.timezone import now
from django.views.decorators.http import require_http_methods

from atributo_site.core.events import Actor, acting, record
from atributo_site.rest.client_address import UNKNOWN, own_address
from atributo_site.rest.throttling import Buckets

LONGEST_NAME = 150
COOKIE = "known"
SIGNER = TimestampSigner(salt="atributo.known_browser")
KEPT_SECONDS = 180 * 24 * 60 * 60
guesses = Buckets()


@method_decorator(require_http_methods(["GET", "HEAD", "POST"]), name="dispatch")
class LogIn(views.LoginView):
    template_name = "admin/login.html"
    redirect_authenticated_user = True

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        name = request.POST.get("username", "")[:LONGEST_NAME]
        # A locked-out user may go on guessing, but must not fill the table of events.
        self.is_recorded = AxesProxyHandler.is_allowed(request, {"username": name})
        return super().post(request, *args, **kwargs)

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        self._record("user.logged_in", form.get_user().get_username())
        response = super().form_valid(form)
        remember(response, form.get_user())
        return response

    def form_invalid(self, form: AuthenticationForm) -> HttpResponse:
        name = form.cleaned_data.get("username", "")[:LONGEST_NAME]
        count_guess(self.request, name)
        if self.is_recorded and name:
            self._record("user.login_failed", name)
        return super().form_invalid(form)

    def _record(self, kind: str, name: str) -> None:
        with acting(Actor(name, "browser", self.request.request_id)):  # type: ignore[attr-defined]
            record(kind, f"user:{name}", address=self.request.META.get("REMOTE_ADDR", ""))


class LogOut(views.LogoutView):
    next_page = "admin:login"
    http_method_names = ["post", "options"]

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.user.is_authenticated:
            record("user.logged_out", f"user:{request.user.get_username()}")
        return super().post(request, *args, **kwargs)


class PasswordChange(views.PasswordChangeView):
    template_name = "registration/password_change_form.html"
    success_url = reverse_lazy("admin:password_change_done")

    def form_valid(self, form: Any) -> HttpResponse:
        record("user.password_changed", f"user:{self.request.user.get_username()}")
        return super().form_valid(form)


def locked_out(request: HttpRequest, response: HttpResponse, credentials: Any) -> HttpResponse:
    """Say after too many wrong passwords how long it takes until the next try counts."""
    seconds = _seconds_left(request, (credentials or {}).get("username") or "")
    page = render(request, "admin/locked_out.html", {"minutes": ceil(seconds / 60)}, status=429)
    page["Retry-After"] = str(seconds)
    return page


def _seconds_left(request: HttpRequest, username: str) -> int:
    """Return when the last guess that counted is over; those that came since do not count."""
    whole = get_cool_off(request) or timedelta(hours=1)
    address = own_address(request)
    counted = Q(username=username)
    counted |= Q(ip_address=address) if address != UNKNOWN else Q()
    newest = AccessAttempt.objects.filter(counted).aggregate(at=Max("attempt_time"))["at"]
    left = whole if newest is None else newest + whole - now()
    return max(1, ceil(left.total_seconds()))


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
