"""Endpoints that only tests have: one that does something, and one that fails on request."""

import threading

import redis
from django.core import exceptions as django_errors
from django.db import DataError, IntegrityError, InterfaceError, OperationalError
from django.http import Http404
from django.urls import URLPattern, get_resolver, include, path
from rest_framework import exceptions
from rest_framework.response import Response

from atributo_site import site_urls as urls
from atributo_site.core.errors import AtributoError, ConnectionLost
from atributo_site.core.events import record
from atributo_site.rest import ids  # noqa: F401 – registers <id:…>
from atributo_site.rest.endpoint import Endpoint
from atributo_site.rest.preconditions import must_be_new, required_epoch


class Conflict(AtributoError):
    status_code = 409
    code = "in_the_way"


ERRORS = {
    "ours": lambda: Conflict("it is in the way", owner="a", at=object),
    "unavailable": lambda: type("Away", (AtributoError,), {"status_code": 503})("away"),
    "validation": lambda: exceptions.ValidationError(["wrong"]),
    "django_validation": lambda: django_errors.ValidationError({"name": ["wrong"]}),
    "django_permission": lambda: django_errors.PermissionDenied(),
    "too_big": lambda: django_errors.RequestDataTooBig(),
    "suspicious": lambda: django_errors.SuspiciousOperation("secret detail"),
    "http404": lambda: Http404(),
    "not_found": lambda: exceptions.NotFound(),
    "busy": lambda: OperationalError("database is locked"),
    "lost": lambda: ConnectionLost("lost", in_doubt=False),
    "in_doubt": lambda: ConnectionLost("lost", in_doubt=True),
    "gone": lambda: InterfaceError("connection already closed"),
    "redis": lambda: redis.ConnectionError("refused"),
    "data": lambda: DataError("integer out of range"),
    "overflow": lambda: OverflowError("too large"),
    "integrity": lambda: IntegrityError("duplicate key"),
    "unexpected": lambda: RuntimeError("secret detail"),
}


class Doing(Endpoint):
    """Record an event and answer with its number; wait for `gate` where a test closes it."""

    actions = {"GET": "event.view", "POST": "event.view", "PUT": "event.view"}
    gate = threading.Event()
    gate.set()

    def get(self, request, name="x"):
        return Response({"name": name})

    def put(self, request, name="x"):
        return Response({"epoch": required_epoch(request, lambda: 7), "new": must_be_new(request)})

    def post(self, request, name="x"):
        if "fail" in request.data:
            raise ERRORS[request.data["fail"]]()
        self.gate.wait(60)
        event = record("thing.done", "thing:1")
        headers = {"Location": f"/things/{event.pk}", "ETag": '"1"'}
        return Response({"event": event.pk}, status=201, headers=headers)


class Unlisted(Endpoint):
    def get(self, request):
        return Response({})


urlpatterns = [
    path("api/v1/doing", Doing.as_view()),
    path("api/v1/doing/<id:name>", Doing.as_view()),
    path("api/v1/unlisted", Unlisted.as_view()),
    path("", include(urls)),
]
handler404 = urls.handler404


def endpoints(patterns=None, prefix=""):
    """Return (route, view class) of everything that the resolver knows."""
    found = []
    for pattern in get_resolver().url_patterns if patterns is None else patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLPattern):
            found.append((route, getattr(pattern.callback, "cls", None)))
        else:
            found += endpoints(pattern.url_patterns, route)
    return found


def readable():
    """Return the addresses below /api/v1/ that are read and have no name in them."""
    return sorted(
        "/" + route
        for route, view in endpoints()
        if route.startswith("api/v1/")
        and "<" not in route
        and "GET" in getattr(view, "actions", {})
    )
