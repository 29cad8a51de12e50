"""Find out who sends a request: the owner of a bearer token, or the person of a session.

A token that was looked up a moment ago is remembered for five seconds.
"""

import copy
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from threading import Lock
from typing import Any, Generic, TypeVar

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser
from django.db import Error
from django.db.models import Q
from django.db.models.functions import Now
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from knox.crypto import hash_token
from rest_framework import authentication
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied
from rest_framework.request import Request

from atributo_site.core.availability.patience import in_a_hurry
from atributo_site.core.models.clock import from_now
from atributo_site.models import TokenScope
from atributo_site.rest.client_address import UNKNOWN, own_address
from atributo_site.rest.throttling import Buckets

Value = TypeVar("Value")
REMEMBERED_SECONDS = 5.0
USED_SECONDS = 60
NOTE_MS = 100  # nobody waits longer so that the use of a token is noted
LONGEST_TOKEN = 256  # characters
WRONG_TOKENS_PER_HOUR = 20  # by address; wrong tokens never hold back a right one
wrong_tokens = Buckets()


class TokenCache(Generic[Value]):
    """Remember values that were found, each for `seconds` from before its look-up began."""

    def __init__(
        self, seconds: float, size: int, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._seconds = seconds
        self._size = size
        self._monotonic = monotonic
        self._kept: OrderedDict[str, tuple[float, Value]] = OrderedDict()
        self._lock = Lock()

    def find(self, digest: str, look_up: Callable[[], Value | None]) -> Value | None:
        started = self._monotonic()
        until, value = self._kept.get(digest, (0.0, None))
        if value is not None and started < until:
            return value
        value = look_up()
        if value is not None:
            self._keep(digest, started + self._seconds, value)
        return value

    def forget(self, digest: str) -> None:
        with self._lock:
            self._kept.pop(digest, None)

    def clear(self) -> None:
        with self._lock:
            self._kept.clear()

    def _keep(self, digest: str, until: float, value: Value) -> None:
        with self._lock:
            self._kept.pop(digest, None)
            self._kept[digest] = (until, value)
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)


known_tokens: TokenCache[TokenScope] = TokenCache(REMEMBERED_SECONDS, size=10_000)


class WrongToken(AuthenticationFailed):
    """It stays 401 however often it comes; after too many, `Retry-After` asks for patience."""

    def __init__(self, wait: int) -> None:
        super().__init__("The token is unknown, expired or revoked.")
        self.wait = wait or None


class TokenAuthentication(authentication.BaseAuthentication):
    """Authenticate `Authorization: Bearer …`; the token is stored as a hash and never logged."""

    challenge = 'Bearer realm="api"'

    def authenticate(self, request: Request) -> tuple[AbstractBaseUser, TokenScope] | None:
        scheme, _, token = request.META.get("HTTP_AUTHORIZATION", "").strip().partition(" ")
        if scheme.lower() != "bearer":
            return None
        scope = scope_of(token.strip())
        if scope is None:
            raise WrongToken(_seconds_to_wait(request, token))
        return copy.copy(scope.token.user), scope

    def authenticate_header(self, request: Request) -> str:
        return self.challenge


class SessionAuthentication(authentication.SessionAuthentication):
    """Use the browser's log-in; a request that changes something needs its CSRF token."""

    def enforce_csrf(self, request: Any) -> None:
        try:
            super().enforce_csrf(request)
        except PermissionDenied as error:
            raise PermissionDenied(str(error.detail), code="csrf_failed") from error


def caller_of(request: Request) -> str:
    """Name the sender of this request as no other caller is named: by its token or its user."""
    return f"token:{request.auth.pk}" if request.auth else f"user:{request.user.pk}"


def source_of(request: Request) -> str:
    """Say for whom the request speaks about instances: a person, unless its token says worker."""
    return getattr(request.auth, "source", TokenScope.Source.MANUAL.value)


def scope_of(token: str) -> TokenScope | None:
    """Return the scope, with token and owner, of a token that may be used now."""
    if not token or len(token) > LONGEST_TOKEN or not token.isascii():
        return None
    digest = hash_token(token)
    return known_tokens.find(digest, lambda: _look_up(digest))


def _look_up(digest: str) -> TokenScope | None:
    usable = Q(token__expiry__isnull=True) | Q(token__expiry__gt=Now())
    scope = (
        TokenScope.objects.select_related("token__user")
        .filter(usable, token__digest=digest, token__user__is_active=True)
        .first()
    )
    if scope is not None:
        _note_use(scope)
        scope.token.user.get_all_permissions()  # remembered with it
    return scope


def _note_use(scope: TokenScope) -> None:
    """Store the moment of use at most once a minute, whatever the traffic."""
    unused = Q(last_used_at__isnull=True) | Q(last_used_at__lt=from_now(-USED_SECONDS))
    stale = TokenScope.objects.filter(unused, pk=scope.pk)
    if stale.exists():  # on SQLite even an UPDATE that changes no row waits for other writers
        with suppress(Error), in_a_hurry(NOTE_MS):  # a database that only reads is read
            stale.update(last_used_at=Now())


def _seconds_to_wait(request: Request, token: str) -> int:
    """Count by address, or by the token itself where others may share the address."""
    address = own_address(request)
    key = sha256(token.encode()).hexdigest() if address == UNKNOWN else address
    return wrong_tokens.wait(key, WRONG_TOKENS_PER_HOUR, per_seconds=3600)


class TokenScheme(OpenApiAuthenticationExtension):
    target_class = "atributo_site.rest.authentication.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer"}


class SessionScheme(OpenApiAuthenticationExtension):
    target_class = "atributo_site.rest.authentication.SessionAuthentication"
    name = "session"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "apiKey", "in": "cookie", "name": settings.SESSION_COOKIE_NAME}
