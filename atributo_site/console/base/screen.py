"""The base of every screen: it answers a method only if an action is named for it."""

from functools import partial
from typing import Any, ClassVar
from urllib.parse import urlsplit

from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import BadRequest, PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.views import View
from django_htmx.http import HttpResponseClientRefresh

from atributo_site.console.base.navigation import address, log_in
from atributo_site.console.base.shared_parts import TOKEN, hint_followed, shared
from atributo_site.core.errors import AtributoError
from atributo_site.core.event_cursor import newest_cursor
from atributo_site.pages.engine import page
from atributo_site.pages.mount import prefix
from atributo_site.permissions import NO_ROLE, may
from atributo_site.status.marks import generation
from atributo_site.web.error_pages import busy, failure, is_away
from atributo_site.web.unaided import unaided

GONE = (404, 409)
NOTHING_DONE = "You were logged out, so nothing was changed. Please try again."


class Screen(View):
    """`actions` maps each method to an entry of ACTIONS; other methods are 405."""

    actions: ClassVar[dict[str, str]] = {}
    template_name = ""
    title = ""
    is_shared = False  # pages that follow one hint get one answer, so it holds nothing personal
    gone_to = ""  # where a confirmation leads whose object is gone or done with

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        return unaided(request, partial(self._answer, request, *args, **kwargs))

    def _answer(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return _to_the_log_in(request)
        self._check(request)
        if self._action(request) is None:
            return self._not_allowed(request)
        self._generation = generation.name
        self._since = _newest_event(request)
        self._hint = hint_followed(request) if self.is_shared else ""
        answer = partial(super().dispatch, request, *args, **kwargs)
        try:
            return shared(request, self._hint, answer) if self._hint else answer()
        except AtributoError as error:
            if is_away(error):
                return busy(request, error)
            if self.gone_to and request.method == "GET" and error.status_code in GONE:
                messages.warning(request, error.args[0])
                return redirect(self.gone_to)
            return failure(request, error.status_code, str(error))

    def show(self, status: int = 200, **context: Any) -> HttpResponse:
        """Render the whole page, or only its content when htmx asks for it."""
        base = "fragment.html" if self.request.htmx else "base.html"  # type: ignore[attr-defined]
        frame: dict[str, Any] = {"base": base, "title": self.title}
        frame |= {"live_since": self._since, "live_generation": self._generation}
        if self._hint:
            frame |= {"csrf_token": TOKEN, "views": None}
            context.pop("views", None)
        return page(self.request, self.template_name, {**frame, **context}, status)

    @property
    def page_keys(self) -> dict[str, Any]:
        """Return the keys in the address that say which page of a list is wanted."""
        return {name: self.request.GET.get(name, "") for name in ("after", "before")}

    def _not_allowed(self, request: HttpRequest) -> HttpResponse:
        """Answer with a page, since people type or reload the address of a button."""
        response = failure(request, 405)
        reading = ["HEAD"] if "GET" in self.actions else []
        response["Allow"] = ", ".join([*self.actions, *reading])
        return response

    def _check(self, request: HttpRequest) -> None:
        if not may(request.user, "overview.view"):
            raise PermissionDenied(NO_ROLE)
        action = self._action(request)
        if action is not None and not may(request.user, action):
            raise PermissionDenied
        if "%00" in request.META.get("QUERY_STRING", "") or "\x00" in request.path:
            raise BadRequest("An address must not contain a NUL character.")

    def _action(self, request: HttpRequest) -> str | None:
        method = "GET" if request.method == "HEAD" else str(request.method)
        return self.actions.get(method)


class TabbedScreen(Screen):
    """A screen with the tabs of its section."""

    tabs: ClassVar[dict[str, str]] = {}  # URL name: words
    url_name = ""  # of the current tab

    def show(self, status: int = 200, **context: Any) -> HttpResponse:
        return super().show(status, tabs=self.tab_list(), **context)

    def tab_list(self) -> list[dict[str, Any]]:
        return [
            {"name": name, "url": address(url_name), "current": url_name == self.url_name}
            for url_name, name in self.tabs.items()
        ]


def own_page(request: HttpRequest, named: str, otherwise: str) -> str:
    """Return the page that a form or header names, if it is one of this site."""
    hosts, is_secure = {request.get_host()}, request.is_secure()
    return named if url_has_allowed_host_and_scheme(named, hosts, is_secure) else otherwise


def _newest_event(request: HttpRequest) -> str:
    """Read the cursor that a whole page listens from, before its rows, so that it misses none."""
    is_page = request.method == "GET" and not request.htmx  # type: ignore[attr-defined]
    return str(newest_cursor()) if is_page else ""


def _to_the_log_in(request: HttpRequest) -> HttpResponse:
    """Lead to the log-in; a live part reloads the whole page to get there."""
    if request.htmx:  # type: ignore[attr-defined]
        return HttpResponseClientRefresh()
    if request.method in ("GET", "HEAD"):
        return redirect_to_login(request.get_full_path(), log_in())
    messages.warning(request, NOTHING_DONE)
    return redirect_to_login(_page_before(request), log_in())


def _page_before(request: HttpRequest) -> str:
    """Return the page that the form was on, so that it can be filled in again."""
    before = own_page(request, request.headers.get("Referer", ""), "")
    path = urlsplit(before)._replace(scheme="", netloc="").geturl()
    return path if path.startswith("/") else prefix()
