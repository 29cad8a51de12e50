"""Do a POST once: sent again with the same Idempotency-Key, it gets the first answer again."""

import hashlib
import json
import re
import uuid
from collections.abc import Callable

from django.db import IntegrityError
from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Now
from django.db.transaction import atomic
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from rest_framework.exceptions import ParseError
from rest_framework.request import Request
from rest_framework.response import Response

from atributo_site.core.errors import AtributoError
from atributo_site.core.models import Lease
from atributo_site.core.models.clock import from_now
from atributo_site.core.presence import holder_here
from atributo_site.core.retry import retry_busy
from atributo_site.models import ANSWERS_KEPT_SECONDS, IdempotencyKey
from atributo_site.rest.authentication import caller_of

ABANDONED_SECONDS = 60  # a process without a presence has died after this long without an answer
KEPT_HEADERS = ("Content-Type", "Location", "ETag")
ACCEPTED_KEY = re.compile(r"[\x21-\x7e]{1,255}")


class KeyReused(AtributoError):
    """The same key came with another request."""

    status_code = 422
    code = "idempotency_key_reused"


class KeyInProgress(AtributoError):
    """The first request with this key has not been answered yet."""

    status_code = 409
    code = "idempotency_key_in_progress"
    retry_after_seconds = 1


def answered_once(
    request: Request, perform: Callable[[Request], HttpResponseBase]
) -> HttpResponseBase:
    """Return the stored answer, or that of `perform`, which is stored unless we failed."""
    ours = uuid.uuid4().hex
    kept = _claimed(request, ours)
    if kept is not None:
        return _replayed(kept)
    response = None
    try:
        response = _rendered(perform(request))
    finally:
        _store_answer(request, ours, response)
    return response


def _claimed(request: Request, ours: str) -> IdempotencyKey | None:
    """Return None if the work is ours, or else the row of the request that has finished."""
    key, fingerprint = _key(request), _fingerprint(request)
    if _inserted(request, key, fingerprint, ours) or _taken_over(request, key, fingerprint, ours):
        return None
    row = IdempotencyKey.objects.filter(user_id=_owner(request), key=key).first()
    if row is None or row.status is None:
        raise KeyInProgress(f"a request with the key {key} is being answered")
    if row.fingerprint != fingerprint:
        raise KeyReused(f"the key {key} was used for another request")
    return row


def _owner(request: Request) -> int:
    assert request.user.pk is not None, "anonymous requests never come this far"
    return request.user.pk


def _key(request: Request) -> str:
    key = request.headers["Idempotency-Key"]
    if not ACCEPTED_KEY.fullmatch(key):
        raise ParseError("The header Idempotency-Key must be 1 to 255 visible ASCII characters.")
    return key


def _fingerprint(request: Request) -> str:
    """Include the caller: an answer to one token is not for another one of the same user."""
    what = f"{caller_of(request)} {request.method} {request.get_full_path()}\n".encode()
    return hashlib.sha256(what + request._request.body).hexdigest()


def _inserted(request: Request, key: str, fingerprint: str, ours: str) -> bool:
    try:
        with atomic():
            IdempotencyKey.objects.create(
                user_id=_owner(request),
                key=key,
                fingerprint=fingerprint,
                body=ours,
                holder=holder_here(),
            )
    except IntegrityError:  # another request has this key
        return False
    return True


def _taken_over(request: Request, key: str, fingerprint: str, ours: str) -> bool:
    """Take over a row that has expired, or whose process died during the same request."""
    expired = Q(created_at__lt=from_now(-ANSWERS_KEPT_SECONDS))
    abandoned = Q(status__isnull=True, fingerprint=fingerprint) & _is_dead()
    rows = IdempotencyKey.objects.filter(expired | abandoned, user_id=_owner(request), key=key)
    fresh = {"fingerprint": fingerprint, "status": None, "body": ours, "holder": holder_here()}
    return rows.update(**fresh, created_at=Now()) == 1


def _is_dead() -> Q:
    """Match rows whose process holds its presence no more, or had none long ago."""
    alive = Lease.objects.held().filter(holder=OuterRef("holder"))
    silent = Q(holder="", created_at__lt=from_now(-ABANDONED_SECONDS))
    return silent | Q(~Q(holder=""), ~Exists(alive))


def _store_answer(request: Request, ours: str, response: HttpResponse | None) -> None:
    """Store it only while the row is still ours: until then `body` holds our mark."""
    rows = IdempotencyKey.objects.filter(user_id=_owner(request), status__isnull=True, body=ours)
    if response is None or (response.status_code >= 500 and not _is_in_doubt(response)):
        retry_busy(rows.delete, repeatable=True)
    else:
        answer = {"status": response.status_code, "body": _kept(response)}
        retry_busy(lambda: rows.update(**answer), repeatable=True)


def _is_in_doubt(response: HttpResponse) -> bool:
    """Return True for an answer whose work may have been done: it is not repeated."""
    is_problem = response.get("Content-Type") == "application/problem+json"
    return is_problem and bool(json.loads(response.content).get("in_doubt"))


def _rendered(response: HttpResponseBase) -> HttpResponse:
    if not isinstance(response, HttpResponse):
        raise TypeError("an answer that streams cannot be remembered")
    return response.render() if isinstance(response, Response) else response


def _kept(response: HttpResponse) -> str:
    headers = {name: response[name] for name in KEPT_HEADERS if name in response}
    return json.dumps({"headers": headers, "text": response.content.decode()})


def _replayed(row: IdempotencyKey) -> HttpResponse:
    kept = json.loads(row.body)
    headers = {**kept["headers"], "Idempotency-Replayed": "true"}
    return HttpResponse(kept["text"], status=row.status, headers=headers)
