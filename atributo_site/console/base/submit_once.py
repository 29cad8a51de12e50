"""Forms whose answer is shown once: whoever reloads that page sends the form again, and in vain.

A form carries a number that is signed for its user; the first to send it writes it down.
"""

import secrets
from typing import Any

from django.core import signing
from django.db import IntegrityError
from django.db.transaction import atomic

from atributo_site.core.errors import AtributoError
from atributo_site.models import IdempotencyKey

SALT = "atributo.sent_once"
LONGEST_OPEN_SECONDS = 12 * 60 * 60  # shorter than what was written down is kept


class SentBefore(AtributoError):
    """The form was sent already."""

    status_code = 409
    code = "form_sent_before"


class FormTooOld(AtributoError):
    """Nobody knows any more whether it was sent."""

    status_code = 409
    code = "form_too_old"


def new_number(user: Any) -> str:
    return signing.dumps([user.pk, secrets.token_urlsafe(16)], salt=SALT)


def claim(user: Any, number: str) -> None:
    """Within the transaction of what the form does, so that a refusal leaves it to be sent."""
    try:
        owner, name = signing.loads(number, salt=SALT, max_age=LONGEST_OPEN_SECONDS)
    except signing.BadSignature as error:
        raise FormTooOld("The page was open for too long: send the form again.") from error
    if owner != user.pk:
        raise FormTooOld("The page was opened by somebody else: send the form again.")
    if not _written_down(user, f"form {name}"):
        raise SentBefore("The form was sent already.")


def _written_down(user: Any, key: str) -> bool:
    """A space is in no key that a client may send, so that both kinds never meet."""
    try:
        with atomic():
            IdempotencyKey.objects.create(user=user, key=key)
    except IntegrityError:
        return False
    return True
