"""The base classes of every REST view."""

from collections.abc import Sequence
from contextlib import ExitStack
from types import SimpleNamespace
from typing import Any, NoReturn

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from rest_framework import generics, views
from rest_framework.exceptions import ParseError, UnsupportedMediaType
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from atributo_site.core.availability.patience import in_a_hurry
from atributo_site.core.events import Actor, acting
from atributo_site.core.models import Event
from atributo_site.rest import problems
from atributo_site.rest.authentication import SessionAuthentication, TokenAuthentication
from atributo_site.rest.idempotency import answered_once
from atributo_site.rest.kept import forms
from atributo_site.rest.kept.first_pages import FirstPage, may_be_kept
from atributo_site.rest.lists import CursorPages, KnownFilters
from atributo_site.rest.operation import Operation
from atributo_site.rest.permission import ActionPermission
from atributo_site.rest.strict_json import StrictJSONParser
from atributo_site.rest.throttling import PerMinute

JSON_NAMES = {dict: "object", list: "array", str: "string", int: "number", bool: "boolean"}


class Negotiation(DefaultContentNegotiation):
    """Answer with JSON, whatever `?format=` means to the project."""

    settings: Any = SimpleNamespace(URL_FORMAT_OVERRIDE=None)

    def select_renderer(self, request: Any, renderers: Any, format_suffix: Any = None) -> Any:
        """Choose at once what most programs ask for, whom REST framework compares with all."""
        first = renderers[0]
        is_usual = request.META.get("HTTP_ACCEPT", "*/*") in {"*/*", "application/json"}
        if is_usual and type(first) is JSONRenderer and not format_suffix:
            return first, first.media_type
        return super().select_renderer(request, renderers, format_suffix)


class Endpoint(views.APIView):
    """A view whose `actions` say, method by method, which action its caller must be allowed.

    A body is read and checked before the method runs, even where it is not used: it is a
    JSON object unless `body_types` says otherwise.
    """

    # Named here, because the defaults of DRF are those of the project that we are in.
    authentication_classes = (TokenAuthentication, SessionAuthentication)
    permission_classes = (ActionPermission,)
    parser_classes = (StrictJSONParser,)
    renderer_classes: Sequence[type[BaseRenderer]] = (JSONRenderer,)
    throttle_classes = (PerMinute,)
    content_negotiation_class = Negotiation
    schema: Any = Operation()

    actions: dict[str, str] = {}
    body_types: tuple[type, ...] = (dict,)
    in_a_hurry = False  # True where a busy database is to be answered as soon as for a push
    has_page = False  # True where people look at the answer in a browser
    remembers_answers = True  # by Idempotency-Key; False where an answer holds a secret

    @property
    def allowed_methods(self) -> list[str]:
        reading = ["HEAD"] if "GET" in self.actions else []
        return [*self.actions, *reading, "OPTIONS"]

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        self.args, self.kwargs = args, kwargs
        self.request = self.initialize_request(request, *args, **kwargs)
        self.headers = self.default_response_headers
        with ExitStack() as self.entered:
            if self.in_a_hurry and request.method == "POST":
                self.entered.enter_context(in_a_hurry(settings.ATRIBUTO.push_timeout_ms))
            return self._answer(self.request)

    def _answer(self, request: Request) -> HttpResponseBase:
        try:
            request._request.body  # noqa: B018 – kept: the CSRF check reads it before the parser
            self.initial(request, *self.args, **self.kwargs)
            if request.method == "POST" and "HTTP_IDEMPOTENCY_KEY" in request.META:
                return self._perform_once(request)
        except Exception as exc:  # the exception handler handles them all
            return self._finished(self.handle_exception(exc))
        return self._perform(request)

    def _perform_once(self, request: Request) -> HttpResponseBase:
        if not self.remembers_answers:
            raise ParseError("The answer here is never kept: send no Idempotency-Key.")
        return answered_once(request, self._perform)

    def _perform(self, request: Request) -> HttpResponseBase:
        handler = getattr(self, str(request.method).lower(), self.http_method_not_allowed)
        try:
            response = handler(request, *self.args, **self.kwargs)
        except Exception as exc:  # the exception handler handles them all
            response = self.handle_exception(exc)
        return self._finished(response)

    def _finished(self, response: Any) -> HttpResponseBase:
        self.response = self.finalize_response(self.request, response, *self.args, **self.kwargs)
        return self.response

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        self.entered.enter_context(acting(_actor(request)))
        _refuse_nul(request, kwargs)
        if request.method in {"POST", "PUT", "PATCH", "DELETE"}:
            self._check_body(request)

    def perform_authentication(self, request: Request) -> None:
        """Throttle before the permission check, so that refused requests count, too."""
        super().perform_authentication(request)
        super().check_throttles(request)

    def throttled(self, request: Request, wait: float) -> NoReturn:
        """Answer 401 to strangers where a log-in is needed: waiting would not help them."""
        if not request.user.is_authenticated:
            self.check_permissions(request)
        super().throttled(request, wait)

    def check_throttles(self, request: Request) -> None:
        """Do nothing: perform_authentication has done it."""

    def _check_body(self, request: Request) -> None:
        if not request._request.body:
            return
        if not request.content_type:
            raise UnsupportedMediaType("", "Send a body with Content-Type: application/json.")
        if not isinstance(request.data, self.body_types):
            raise ParseError(f"The body must be JSON of the type {_named(self.body_types)}.")

    def get_exception_handler(self) -> Any:
        return problems.handle

    def options(self, request: Any, *args: Any, **kwargs: Any) -> Response:
        return Response(status=204)


class ListEndpoint(Endpoint, generics.ListAPIView):
    """Cursor pages over `queryset` by its `ordering`, filtered by `filterset_class`."""

    pagination_class = CursorPages
    filter_backends = (KnownFilters,)
    ordering: str | tuple[str, ...] = "pk"

    def list(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        rows: Any = self.paginate_queryset(self._rows(request))
        context = {**self.get_serializer_context()}
        page = forms.represented(self.get_serializer_class(), rows, context)
        return self.get_paginated_response(page)

    def _rows(self, request: Request) -> Any:
        is_whole = type(self).get_queryset is generics.GenericAPIView.get_queryset
        rows: Any = self.__class__.queryset
        if is_whole and request.query_params.keys() <= {"limit"} and may_be_kept(rows):
            return FirstPage(type(self), rows)
        return self.filter_queryset(self.get_queryset())


def _named(types: tuple[type, ...]) -> str:
    return " or ".join(JSON_NAMES.get(kind, "number") for kind in types)


def _actor(request: Request) -> Actor:
    name = request.user.get_username() or "anonymous"
    return Actor(name, Event.Channel.REST, getattr(request, "request_id", ""))


def _refuse_nul(request: Request, kwargs: dict[str, Any]) -> None:
    given = [*kwargs.values(), *request.query_params]
    for values in request.query_params.lists():
        given += values[1]
    if any("\x00" in text for text in given if isinstance(text, str)):
        raise ParseError("The address contains the NUL character.")
