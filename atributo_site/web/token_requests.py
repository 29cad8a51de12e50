"""Answer REST requests with a token without what only browsers need.

Sessions, CSRF tokens, messages, htmx, static files and log-in limits cost such a request half of
its time and do nothing for it. Whatever is unusual goes the long way: a cookie, a host or a length
that is refused, an address that is none.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from csp.utils import build_policy
from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse
from django.middleware.security import SecurityMiddleware
from django.urls import Resolver404, ResolverMatch, URLPattern, get_resolver, resolve
from django.urls.resolvers import RoutePattern
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
    """Find the view of an address; Django itself tries all addresses in turn, for 80 to 230 us."""
    above = path.find(PREFIX) + len(PREFIX)
    head = path[1:above] + path[above:].partition("/")[0]
    for each in _addresses(urlconf, head):
        if each.pattern is None:
            break
        matched = each.pattern.match(path[1:])
        if matched:
            return each.match_of(path, urlconf, matched[2])
    return resolve(path, urlconf)


@dataclass
class _Address:
    """An address with what Django once found for it; without a pattern only Django knows it."""

    fixed: str  # what it begins with, before its first converter
    pattern: RoutePattern | None = None
    found: ResolverMatch | None = None

    def match_of(self, path: str, urlconf: str, captured: dict[str, Any]) -> ResolverMatch:
        if self.found is None:
            self.found = resolve(path, urlconf)
        like: Any = self.found
        return ResolverMatch(
            like.func,
            (),
            {**captured, **like.extra_kwargs},
            like.url_name,
            like.app_names,
            like.namespaces,
            like.route,
            captured_kwargs=captured,
            extra_kwargs=like.extra_kwargs,
        )


@lru_cache(maxsize=REMEMBERED_ADDRESSES)
def _addresses(urlconf: str, head: str) -> list[_Address]:
    """Return those that may be meant, in the order in which Django tries them."""
    every = _flat(get_resolver(urlconf).url_patterns, "")
    return [each for each in every if each.fixed.startswith(head) or head.startswith(each.fixed)]


def _flat(patterns: Iterable[Any], above: str) -> Iterator[_Address]:
    for each in patterns:
        route = above + str(each.pattern)
        fixed = route.partition("<")[0]
        if not isinstance(each.pattern, RoutePattern):
            yield _Address(above)
        elif isinstance(each, URLPattern):
            yield _Address(fixed, RoutePattern(route, is_endpoint=True))
        elif fixed == route:
            yield from _flat(each.url_patterns, route)
        else:
            yield _Address(fixed)


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
