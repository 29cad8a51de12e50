"""Answer REST requests with a token without what only browsers need.

Sessions, CSRF tokens, messages, htmx, static files and log-in limits cost such a request half of
its time and do nothing for it. Whatever is unusual goes the long way: a cookie, a host or a length
that is refused, an address that is none.
"""

from functools import cache, lru_cache
from typing import Any

from csp.utils import build_policy
from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse
from django.middleware.security import SecurityMiddleware
from django.urls import Resolver404, ResolverMatch, resolve
from django.utils.cache import patch_vary_headers

from atributo_site.rest.endpoint import Endpoint
from atributo_site.web.middleware import Middleware, Next

PREFIX = "api/v1/"
REMEMBERED_ADDRESSES = 1000


class TokenRequestMiddleware(Middleware):
    """Call the endpoint at once; its answer has the same headers as by the long way."""

    def __init__(self, get_response: Next) -> None:
        super().__init__(get_response)
        self._secure = SecurityMiddleware(get_response)

    def __call__(self, request: HttpRequest) -> HttpResponse:
        match = _endpoint(request)
        if match is None:
            return self.get_response(request)
        request.resolver_match = match
        request.asked_by = "anonymous"  # type: ignore[attr-defined]
        response = match.func(request, *match.args, **match.kwargs)
        if callable(getattr(response, "render", None)):
            response = response.render()
        return self._secure.process_response(request, _completed(response))


def _endpoint(request: HttpRequest) -> ResolverMatch | None:
    meta = request.META
    if meta.get("HTTP_AUTHORIZATION", "")[:7].lower() != "bearer " or meta.get("HTTP_COOKIE"):
        return None
    if PREFIX not in request.path_info or not _is_as_usual(request):
        return None
    try:
        match = _resolved(settings.ROOT_URLCONF, request.path_info)
    except Resolver404:
        return None
    kind = getattr(match.func, "cls", None)
    return match if kind is not None and issubclass(kind, Endpoint) and not kind.has_page else None


def _is_as_usual(request: HttpRequest) -> bool:
    """Return whether no other middleware would refuse or redirect it."""
    length = request.META.get("CONTENT_LENGTH") or "0"
    if not (length.isascii() and length.isdigit() and int(length) <= settings.ATRIBUTO.body_bytes):
        return False
    if settings.SECURE_SSL_REDIRECT and not request.is_secure():
        return False
    try:
        return bool(request.get_host())
    except DisallowedHost:
        return False


@lru_cache(maxsize=REMEMBERED_ADDRESSES)
def _resolved(urlconf: str, path: str) -> ResolverMatch:
    return resolve(path, urlconf)


def _completed(response: Any) -> Any:
    """Add what the long way adds: the headers of a private page."""
    headers = response.headers
    headers.setdefault("Content-Security-Policy", _policy())
    headers.setdefault("X-Frame-Options", settings.X_FRAME_OPTIONS)
    headers.setdefault("Cache-Control", "no-store")
    patch_vary_headers(response, ("Cookie",))
    if not response.streaming:
        headers.setdefault("Content-Length", str(len(response.content)))
    return response


@cache
def _policy() -> str:
    return build_policy()
