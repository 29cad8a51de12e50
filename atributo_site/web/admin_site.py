"""The site of the raw lists, with our own log-in and table of permissions."""

from functools import update_wrapper
from typing import Any

from django.contrib import admin
from django.core.exceptions import BadRequest, PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.urls import URLPattern, URLResolver
from django.views.decorators.cache import never_cache

from atributo_site.permissions import NO_ROLE, may
from atributo_site.web.login import LogIn, LogOut, PasswordChange
from atributo_site.web.raw_lists import RawList

READING = ("GET", "HEAD")
# Django's shortcuts that show rows without the permission check of their list.
LEFT_OUT = {"view_on_site", "autocomplete"}
APP_NAMES = {"auth": "People", "atributo_site": "Access"}


class AtributoAdminSite(admin.AdminSite):
    site_title = site_header = "Atributo"
    index_title = "Raw lists"
    enable_nav_sidebar = False

    def register(self, model_or_iterable: Any, admin_class: Any = None, **options: Any) -> None:
        """Register raw lists only: pages of libraries do not use our table of permissions."""
        if admin_class is not None and issubclass(admin_class, RawList):
            super().register(model_or_iterable, admin_class, **options)

    def has_permission(self, request: HttpRequest) -> bool:
        return may(request.user, "overview.view")

    def admin_view(self, view: Any, cacheable: bool = False) -> Any:
        if view == self.logout:  # people without any role may log out, too
            return view
        wrapped = super().admin_view(view, cacheable)

        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            return self._refusal(request, view) or wrapped(request, *args, **kwargs)

        return update_wrapper(guarded, wrapped)

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> Any:
        """Return Django's list of apps and models in our words."""
        apps = super().get_app_list(request, app_label)
        for app in apps:
            app["name"] = APP_NAMES.get(app["app_label"], app["name"])
            for model in app["models"]:
                raw_list: Any = self._registry[model["model"]]
                model["name"] = raw_list.list_name or model["name"]
        return apps

    def get_urls(self) -> list[URLPattern | URLResolver]:
        return [url for url in super().get_urls() if getattr(url, "name", None) not in LEFT_OUT]

    def login(self, request: HttpRequest, extra_context: Any = None) -> Any:
        return never_cache(LogIn.as_view())(request)

    def logout(self, request: HttpRequest, extra_context: Any = None) -> Any:
        return LogOut.as_view()(request)

    def password_change(self, request: HttpRequest, extra_context: Any = None) -> Any:
        return PasswordChange.as_view(extra_context=self.each_context(request))(request)

    def _refusal(self, request: HttpRequest, view: Any) -> HttpResponse | None:
        if not self.has_permission(request):
            if request.user.is_authenticated:
                raise PermissionDenied(NO_ROLE)
            return None  # Django redirects to the log-in
        raw_list = getattr(view, "__self__", None)
        takes_post = isinstance(raw_list, RawList) or view == self.password_change
        methods = (*READING, "POST") if takes_post else READING
        if request.method not in methods:
            return HttpResponseNotAllowed(methods)
        _check_address(request)
        if isinstance(raw_list, RawList):
            _check_may(request, raw_list, view)
        return None


def _check_address(request: HttpRequest) -> None:
    """Refuse NUL, which PostgreSQL cannot store or search for."""
    if "%00" in request.META.get("QUERY_STRING", "") or "\x00" in request.path:
        raise BadRequest("An address must not contain a NUL character.")


def _check_may(request: HttpRequest, raw_list: RawList, view: Any) -> None:
    """Check before Django looks for the row, since some pages tell whether it exists."""
    if not raw_list.has_view_permission(request):
        raise PermissionDenied
    if view == raw_list.changelist_view and raw_list.may_operate(request):
        return  # each action on rows has a permission of its own
    # Django answers some POSTs like a GET; here every POST needs the right to change.
    if request.method == "POST" and not raw_list.has_change_permission(request):
        raise PermissionDenied
