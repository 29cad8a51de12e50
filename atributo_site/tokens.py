"""REST tokens: made, listed and revoked by their owners, each with an event and no secret in it."""

from django.contrib.auth.models import User
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Least, Now
from django.db.transaction import atomic
from knox.models import AuthToken, get_digest_token
from knox.settings import CONSTANTS

from allocation.errors import AtributoError
from allocation.events import record
from allocation.models.clock import from_now
from atributo_site.models import TokenScope
from atributo_site.permissions import APP_LABEL, Level
from atributo_site.rest.authentication import known_tokens

DAY_SECONDS = 24 * 60 * 60
MOST_TOKENS = 100  # per user, expired ones not counted
EXPIRED_KEPT_SECONDS = 7 * DAY_SECONDS


class TooManyTokens(AtributoError):
    """The owner must revoke one first."""

    status_code = 409
    code = "too_many_tokens"


class LevelTooHigh(AtributoError):
    """Nobody hands on more than they have."""

    status_code = 403
    code = "level_too_high"


def of_user(user: User) -> QuerySet[TokenScope]:
    return TokenScope.objects.select_related("token__user").filter(token__user=user)


def make(
    user: User, name: str, level: Level, days: int, *, by: TokenScope | None = None
) -> tuple[TokenScope, str]:
    """A token's scope and the token itself, which can never be read again.

    Made by means of another token, it does not outlive that one.
    """
    if not user.has_perm(f"{APP_LABEL}.{level.value}"):
        raise LevelTooHigh(f"{user.get_username()} may not {level.value}", level=level.value)
    unexpired = Q(token__expiry__isnull=True) | Q(token__expiry__gt=Now())
    if of_user(user).filter(unexpired).count() >= MOST_TOKENS:
        raise TooManyTokens(f"{user.get_username()} has {MOST_TOKENS} tokens already")
    digest, token = get_digest_token()
    with atomic():
        _insert(user, digest, token[: CONSTANTS.TOKEN_KEY_LENGTH], days * DAY_SECONDS)
        _limit_life(digest, by)
        scope = TokenScope.objects.create(token_id=digest, level=level.value, name=name)
        record("token.made", f"token:{scope.pk}", name=name, level=level.value, days=days)
    return of_user(user).get(pk=scope.pk), token


def revoke(scope: TokenScope) -> None:
    owner = scope.token.user.get_username()
    with atomic():
        gone, _ = AuthToken.objects.filter(pk=scope.token_id).delete()
        if gone:
            record("token.revoked", f"token:{scope.pk}", name=scope.name, owner=owner)
    known_tokens.forget(scope.token_id)


def remove_expired(limit: int) -> int:
    old = AuthToken.objects.filter(expiry__lt=from_now(-EXPIRED_KEPT_SECONDS))
    digests = list(old.values_list("pk", flat=True)[:limit])
    AuthToken.objects.filter(pk__in=digests).delete()
    return len(digests)


def _insert(user: User, digest: str, token_key: str, seconds: int) -> None:
    """Not by knox's own `create`: that reads the clock of this machine."""
    AuthToken(digest=digest, token_key=token_key, user=user, expiry=from_now(seconds)).save()


def _limit_life(digest: str, by: TokenScope | None) -> None:
    if by is not None and by.token.expiry is not None:
        own = AuthToken.objects.filter(pk=digest)
        own.update(expiry=Least(F("expiry"), by.token.expiry))
