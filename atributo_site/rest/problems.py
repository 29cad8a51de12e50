"""Answer every failed REST request with application/problem+json and a stable code."""

from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

import structlog
from django.core.exceptions import (
    BadRequest,
    PermissionDenied,
    RequestDataTooBig,
    SuspiciousOperation,
)
from django.core.exceptions import ValidationError as DjangoValidationError
from django.core.serializers.json import DjangoJSONEncoder
from django.db import DataError, IntegrityError, InterfaceError, OperationalError
from django.http import Http404, JsonResponse
from django.http.multipartparser import MultiPartParserError
from django.http.request import RawPostDataException, UnreadablePostError
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError
from rest_framework import exceptions
from rest_framework.permissions import SAFE_METHODS

from atributo_site.core.availability.outages import REQUESTS, outages
from atributo_site.core.availability.trouble import (
    DISK_FULL,
    READ_ONLY,
    REFUSED,
    state_of_database,
)
from atributo_site.core.errors import AtributoError, ConnectionLost, DatabaseBusy
from atributo_site.core.events import has_done_something

log = structlog.get_logger("atributo.rest")

CODES = {
    exceptions.ParseError: "malformed",
    exceptions.AuthenticationFailed: "authentication_failed",
    exceptions.NotAuthenticated: "not_authenticated",
    exceptions.PermissionDenied: "forbidden",
    exceptions.NotFound: "not_found",
    exceptions.MethodNotAllowed: "method_not_allowed",
    exceptions.NotAcceptable: "not_acceptable",
    exceptions.UnsupportedMediaType: "unsupported_media_type",
    exceptions.Throttled: "throttled",
}
BUSY = (OperationalError, InterfaceError, RedisConnectionError, RedisTimeoutError)
IN_DOUBT = (
    "The connection to the database was lost before it answered: this may be done or not. "
    "Look before you send it again."
)
UNREADABLE = (BadRequest, SuspiciousOperation, MultiPartParserError, UnreadablePostError)


@dataclass(frozen=True)
class Problem:
    """Hold what the answer to a failed request says."""

    status: int
    code: str
    detail: str
    members: dict[str, Any] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)


def _unusable(code: str, detail: str, retry_after_seconds: int) -> Problem:
    return Problem(503, code, detail, {}, {"Retry-After": str(retry_after_seconds)})


BUSY_DATABASE = _unusable("busy", "The database is busy. Try again in a moment.", 1)
# By the state of the database; one that is away is called busy, as it is mostly back in a moment.
OF_STATES = {
    REFUSED: _unusable(
        "database_refused",
        "The database refuses this site. An administrator can find out more in its log.",
        60,
    ),
    READ_ONLY: _unusable(
        "read_only", "The database is read-only, so this was not saved. You can still read.", 1
    ),
    DISK_FULL: _unusable(
        "disk_full",
        "The disk of the database is full, so this was not saved. Free some space on it.",
        60,
    ),
}


def problem(
    status: int, code: str, detail: str, *, headers: dict[str, str] | None = None, **members: object
) -> JsonResponse:
    """Return an answer of the media type application/problem+json."""
    known = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "code": code,
        "detail": detail,
    }
    return JsonResponse(
        {**members, **known},
        status=status,
        headers=headers,
        content_type="application/problem+json",
        encoder=ForgivingEncoder,
    )


class ForgivingEncoder(DjangoJSONEncoder):
    """Write a fact that JSON lacks as text: the document about an error must not fail itself."""

    def default(self, o: Any) -> Any:
        try:
            return super().default(o)
        except TypeError:
            return str(o)


def handle(exc: Exception, context: dict[str, Any]) -> JsonResponse:
    """Handle the exceptions of REST framework's views."""
    request = context.get("request")
    answer = described(exc)
    if _is_in_doubt(exc) and getattr(request, "method", "") not in SAFE_METHODS:
        answer = Problem(503, "in_doubt", IN_DOUBT, {"in_doubt": True})
    if answer is None:
        answer = _unexpected(exc, getattr(request, "request_id", ""))
    return problem(
        answer.status, answer.code, answer.detail, headers=answer.headers, **answer.members
    )


def described(exc: Exception) -> Problem | None:
    """Return the problem that an expected exception stands for; None for a mistake of ours."""
    if isinstance(exc, AtributoError) and not isinstance(exc, ConnectionLost):
        return _ours(exc)
    if isinstance(exc, exceptions.ValidationError):
        return _invalid(exc.detail)
    if isinstance(exc, DjangoValidationError):
        return _invalid(getattr(exc, "message_dict", None) or exc.messages)
    if isinstance(exc, exceptions.APIException):
        return _from_framework(exc)
    return _from_django(exc)


def _is_in_doubt(exc: Exception) -> bool:
    """A write without an answer, or one that is done before the database went away."""
    if isinstance(exc, ConnectionLost) and exc.in_doubt:
        return True
    return isinstance(exc, (*BUSY, DatabaseBusy)) and has_done_something()


def _ours(exc: AtributoError) -> Problem:
    if exc.status_code >= 500:
        log.warning("request_failed", code=exc.code, error=str(exc))
    wait = getattr(exc, "retry_after_seconds", 1 if exc.status_code == 503 else None)
    headers = {} if wait is None else {"Retry-After": str(wait)}
    return Problem(exc.status_code, exc.code, str(exc), dict(exc.facts), headers)


def _invalid(detail: Any) -> Problem:
    errors = detail if isinstance(detail, dict) else {"non_field_errors": detail}
    return Problem(400, "invalid", _sentence(errors), {"errors": errors})


def _sentence(errors: dict[str, Any]) -> str:
    """Describe in words what is wrong with the whole body, as no member can be named."""
    if whole := errors.get("non_field_errors"):
        return " ".join(map(str, whole))
    return f"Not valid: {', '.join(map(str, errors))}."


def _from_framework(exc: exceptions.APIException) -> Problem:
    code = getattr(exc.detail, "code", None) or exc.default_code
    headers = {}
    if header := getattr(exc, "auth_header", None):
        headers["WWW-Authenticate"] = header
    if (wait := getattr(exc, "wait", None)) is not None:
        headers["Retry-After"] = str(int(wait))
    if code == exc.default_code:
        code = CODES.get(type(exc), code)
    return Problem(exc.status_code, code, str(exc.detail), {}, headers)


def _from_django(exc: Exception) -> Problem | None:
    if isinstance(exc, Http404):
        return Problem(404, "not_found", str(exc) or "There is nothing at this address.")
    if isinstance(exc, PermissionDenied):
        return Problem(403, "forbidden", str(exc) or "Your role does not allow this.")
    if isinstance(exc, RequestDataTooBig):
        return Problem(413, "too_large", "The request body is larger than this site accepts.")
    if isinstance(exc, UNREADABLE):
        return Problem(400, "malformed", "The request could not be read.")
    if isinstance(exc, RawPostDataException):  # a form, read by the check of its CSRF token
        return Problem(415, "unsupported_media_type", "Send application/json.")
    return _from_database(exc)


def _from_database(exc: Exception) -> Problem | None:
    if is_unusable(exc):
        return unusable(exc)
    if isinstance(exc, DataError | OverflowError):
        return Problem(400, "out_of_range", "A value cannot be stored: too long or out of range.")
    if isinstance(exc, IntegrityError):
        log.warning("conflict", exc_info=exc)
        return Problem(409, "conflict", "This conflicts with what is stored. Read it again.")
    return None


def is_unusable(error: BaseException) -> bool:
    """Whether the database or Redis fails, not the request."""
    return isinstance(error, BUSY) or state_of_database(error) is not None


def unusable(error: BaseException) -> Problem:
    """Log what is wrong with the database, unless the log has it, and return what to answer."""
    if not outages.failed(REQUESTS, error):
        log.warning("database_busy", error=type(error).__name__)
    return OF_STATES.get(state_of_database(error) or "", BUSY_DATABASE)


def _unexpected(exc: Exception, request_id: str) -> Problem:
    log.error("request_failed", exc_info=exc)
    detail = "Something went wrong on the server. The error has been logged."
    return Problem(500, "internal_error", detail, {"request_id": request_id})
