"""The base of every screen: one action per method, and nothing answers without one."""

from typing import Any, ClassVar
from urllib.parse import urlsplit

from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import BadRequest, PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views import View
from django_htmx.http import HttpResponseClientRefresh

from atributo_site.core.errors import AtributoError
from atributo_site.core.event_cursor import newest_cursor
from atributo_site.permissions import NO_ROLE, may
from atributo_site.web.error_pages import failure

GONE = (404, 409)
NOTHING_DONE = "You were not logged in any more, so nothing was changed: do it again."


class Screen(View):
    """`actions` maps each method to an entry of ACTIONS; other methods are 405."""

    actions: ClassVar[dict[str, str]] = {}
    template_name = ""
    title = ""
    gone_to = ""  # for pages that ask: the list that they lead to when it is done already

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return _to_the_log_in(request)
        self._check(request)
        if self._action(request) is None:
            return self._not_allowed(request)
        self._since = _newest_event(request)
        try:
            return super().dispatch(request, *args, **kwargs)
        except AtributoError as error:
            if self.gone_to and request.method == "GET" and error.status_code in GONE:
                messages.warning(request, str(error))
                return redirect(self.gone_to)
            return failure(request, error.status_code, str(error))

    def show(self, status: int = 200, **context: Any) -> HttpResponse:
        """The whole page, or only its content when htmx asks for it."""
        base = "fragment.html" if self.request.htmx else "base.html"  # type: ignore[attr-defined]
        return render(
            self.request,
            self.template_name,
            {"base": base, "title": self.title, "live_since": self._since, **context},
            status=status,
        )

    def _not_allowed(self, request: HttpRequest) -> HttpResponse:
        """Whoever typed or reloaded the address of a button meets a page, not nothing."""
        response = failure(request, 405)
        response["Allow"] = ", ".join(self.actions)
        return response

    def _check(self, request: HttpRequest) -> None:
        if not may(request.user, "overview.view"):
            raise PermissionDenied(NO_ROLE)
        action = self._action(request)
        if action is not None and not may(request.user, action):
            raise PermissionDenied
        if "%00" in request.META.get("QUERY_STRING", "") or "\x00" in request.path:
            raise BadRequest("An address must not contain NUL.")

    def _action(self, request: HttpRequest) -> str | None:
        method = "GET" if request.method == "HEAD" else str(request.method)
        return self.actions.get(method)


def _newest_event(request: HttpRequest) -> str:
    """From where a whole page listens: asked before its rows are read, so that none is missed."""
    is_page = request.method == "GET" and not request.htmx  # type: ignore[attr-defined]
    return str(newest_cursor()) if is_page else ""


def _to_the_log_in(request: HttpRequest) -> HttpResponse:
    """A live part that finds its session over takes the whole page along."""
    if request.htmx:  # type: ignore[attr-defined]
        return HttpResponseClientRefresh()
    if request.method in ("GET", "HEAD"):
        return redirect_to_login(request.get_full_path())
    messages.warning(request, NOTHING_DONE)
    return redirect_to_login(_page_before(request))


def _page_before(request: HttpRequest) -> str:
    """Where the form was, so that it can be filled in again."""
    page = request.headers.get("Referer", "")
    ours = url_has_allowed_host_and_scheme(
        page, {request.get_host()}, require_https=request.is_secure()
    )
    path = urlsplit(page)._replace(scheme="", netloc="").geturl() if ours else ""
    return path if path.startswith("/") else "/"
