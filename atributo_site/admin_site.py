"""The site of the raw lists: log-in, log-out and permissions by our own table."""

from collections.abc import Callable
from functools import update_wrapper
from typing import Any

from django.contrib import admin
from django.core.exceptions import BadRequest, PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.urls import URLPattern, URLResolver
from django.views.decorators.cache import never_cache

from atributo_site.console.access import LogIn, LogOut, PasswordChange
from atributo_site.permissions import NO_ROLE, may
from atributo_site.raw_lists import RawList

METHODS = ("GET", "HEAD", "POST", "OPTIONS")
# Django's shortcuts that show rows without asking the list that they belong to.
LEFT_OUT = {"view_on_site", "autocomplete"}


class AtributoAdminSite(admin.AdminSite):
    site_title = site_header = "Atributo"
    index_title = "Raw lists"
    enable_nav_sidebar = False

    def register(self, model_or_iterable: Any, admin_class: Any = None, **options: Any) -> None:
        """Take raw lists only: pages of libraries know nothing of our table of permissions."""
        if admin_class is not None and issubclass(admin_class, RawList):
            super().register(model_or_iterable, admin_class, **options)

    def has_permission(self, request: HttpRequest) -> bool:
        return may(request.user, "overview.view")

    def admin_view(self, view: Callable[..., Any], cacheable: bool = False) -> Callable[..., Any]:
        if view == self.logout:  # also for those who may see nothing
            return view
        wrapped = super().admin_view(view, cacheable)

        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            return self._refusal(request, view) or wrapped(request, *args, **kwargs)

        return update_wrapper(guarded, wrapped)

    def get_urls(self) -> list[URLPattern | URLResolver]:
        return [url for url in super().get_urls() if getattr(url, "name", None) not in LEFT_OUT]

    def login(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        return never_cache(LogIn.as_view())(request)

    def logout(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        return LogOut.as_view()(request)

    def password_change(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        return PasswordChange.as_view(extra_context=self.each_context(request))(request)

    def _refusal(self, request: HttpRequest, view: Any) -> HttpResponse | None:
        if not self.has_permission(request):
            if request.user.is_authenticated:
                raise PermissionDenied(NO_ROLE)
            return None  # Django leads to the log-in
        if request.method not in METHODS:
            return HttpResponseNotAllowed(METHODS)
        _check_address(request)
        _check_may_post(request, getattr(view, "__self__", None))
        return None


def _check_address(request: HttpRequest) -> None:
    """PostgreSQL knows no NUL; what cannot be stored cannot be looked for."""
    if "%00" in request.META.get("QUERY_STRING", "") or "\x00" in request.path:
        raise BadRequest("an address must not contain NUL")


def _check_may_post(request: HttpRequest, owner: object) -> None:
    """Django shows some pages to a POST as to a GET; here a POST needs the right to change."""
    if (
        request.method == "POST"
        and isinstance(owner, RawList)
        and not owner.has_change_permission(request)
    ):
        raise PermissionDenied
