"""Accept a form only once, although a reload of its answer sends it again.

A form carries a number that is signed for its user, and sending it stores the number.
"""

import secrets
from typing import Any

from django.core import signing
from django.db import IntegrityError
from django.db.transaction import atomic

from atributo_site.core.errors import AtributoError
from atributo_site.models import IdempotencyKey

SALT = "atributo.sent_once"
LONGEST_OPEN_SECONDS = 12 * 60 * 60  # shorter than stored numbers are kept


class SentBefore(AtributoError):
    """This form was already sent."""

    status_code = 409
    code = "form_sent_before"


class FormTooOld(AtributoError):
    """The form is older than the numbers that are kept, so it may have been sent before."""

    status_code = 409
    code = "form_too_old"


def new_number(user: Any) -> str:
    return signing.dumps([user.pk, secrets.token_urlsafe(16)], salt=SALT)


def claim(user: Any, number: str) -> None:
    """Store the number; call it in the transaction of the action, which a refusal rolls back."""
    try:
        owner, name = signing.loads(number, salt=SALT, max_age=LONGEST_OPEN_SECONDS)
    except signing.BadSignature as error:
        raise FormTooOld("The page was open too long. Send the form again.") from error
    if owner != user.pk:
        raise FormTooOld("This page was opened by another user. Send the form again.")
    if not _is_first(user, f"form {name}"):
        raise SentBefore("This form was already sent.")


def _is_first(user: Any, key: str) -> bool:
    """Store the key; it has a space, which no client may send, so both kinds never collide."""
    try:
        with atomic():
            IdempotencyKey.objects.create(user=user, key=key)
    except IntegrityError:
        return False
    return True
