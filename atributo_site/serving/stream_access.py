"""Check who may listen to the event stream and from which cursor, at the start and every minute."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TypeVar

from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import DisallowedHost
from django.core.handlers.asgi import ASGIRequest
from django.db import connections
from rest_framework.exceptions import NotAuthenticated, ParseError, PermissionDenied, Throttled

from atributo_site.core.event_cursor import (
    EventCursor,
    events_after,
    may_resume,
    newest_cursor,
    parsed,
)
from atributo_site.permissions import ACTIONS, may
from atributo_site.rest.authentication import TokenAuthentication
from atributo_site.rest.permission import within
from atributo_site.rest.throttling import requests
from atributo_site.serving.listener import Line
from atributo_site.serving.sse import topics_of
from atributo_site.web.middleware import is_idle

Value = TypeVar("Value")

ACTION = "event.view"
MOST_MISSED = 1000  # events sent after a reconnect; beyond that the page is read anew


@dataclass(frozen=True)
class Reader:
    """Hold a request that was let in; without a cursor it starts at the newest event."""

    user_id: int
    topics: tuple[str, ...]
    cursor: EventCursor
    resumes: bool
    wants_hints: bool = False  # instead of events: a page wants to know when to look, not what for


@dataclass(frozen=True)
class Missed:
    """Hold what happened since a client's cursor; if `too_much`, it must read the page anew."""

    lines: tuple[Line, ...]
    cursor: str
    too_much: bool = False


def admitted(request: ASGIRequest) -> Reader:
    """Return the reader, or raise an error that the REST base can answer."""
    _check_address(request)
    user_id = listening_user(request)
    wait = requests.wait(f"user {user_id}", settings.ATRIBUTO.requests_per_minute, per_seconds=60)
    if wait:
        raise Throttled(wait)
    wants_hints = request.GET.get("hints") == "yes"
    return Reader(user_id, _topics(request), *_start(request), wants_hints)


def listening_user(request: ASGIRequest) -> int:
    """Return the id of the user, if the user may listen now."""
    user, scope = _in_database(lambda: _authenticated(request))
    if not user.is_authenticated:
        raise NotAuthenticated
    if not (_in_database(lambda: may(user, ACTION)) and within(scope, ACTIONS[ACTION])):
        raise PermissionDenied
    return user.pk


def missed_since(cursor: EventCursor) -> Missed:
    return _in_database(lambda: _missed(cursor))


def _missed(cursor: EventCursor) -> Missed:
    newest = newest_cursor()
    if not may_resume(cursor, newest):
        return Missed((), str(newest), too_much=True)
    events, now = events_after(cursor, MOST_MISSED)
    if len(events) == MOST_MISSED:
        return Missed((), str(newest), too_much=True)
    return Missed(tuple(Line.of(event) for event in events), str(now))


def _check_address(request: ASGIRequest) -> None:
    try:
        request.get_host()
    except DisallowedHost as error:
        raise ParseError("This site has another host name.") from error
    if settings.SECURE_SSL_REDIRECT and not request.is_secure():
        raise ParseError("Use https.")


def _authenticated(request: Any) -> tuple[Any, Any]:
    by_token = TokenAuthentication().authenticate(request)
    if by_token is not None:
        return by_token
    engine = import_module(settings.SESSION_ENGINE)
    request.session = engine.SessionStore(request.COOKIES.get(settings.SESSION_COOKIE_NAME))
    user = get_user(request)
    return (AnonymousUser() if user.is_authenticated and is_idle(request) else user), None


def _topics(request: ASGIRequest) -> tuple[str, ...]:
    topics = topics_of(request.GET.get("topics", ""))
    if topics is None:
        raise ParseError("There are too many topics, or too long ones.")
    return topics


def _start(request: ASGIRequest) -> tuple[EventCursor, bool]:
    text = request.headers.get("Last-Event-ID") or request.GET.get("last_event_id", "")
    if not text:
        return _in_database(newest_cursor), False
    cursor = parsed(text)
    if cursor is None:
        raise ParseError("Last-Event-ID must be an id that this stream has sent.")
    return cursor, True


def _in_database(work: Callable[[], Value]) -> Value:
    """Close the connection afterwards: these threads work rarely."""
    try:
        return work()
    finally:
        connections.close_all()
