"""REST tokens: made once, shown once, revoked at any time. The database holds only a hash."""

from datetime import timedelta
from typing import Any

from django.db.models import Q, QuerySet
from django.db.models.functions import Now
from django.db.transaction import atomic
from knox.models import AuthToken

from allocation.errors import AtributoError
from allocation.events import record
from atributo_site.models import TokenScope
from atributo_site.permissions import APP_LABEL, Level

MOST_TOKENS = 100
MOST_DAYS = 3650
LONGEST_NAME = 100


class TokenRefused(AtributoError):
    """A token that cannot be made as asked for."""

    status_code = 400
    code = "token_refused"


class TooManyTokens(AtributoError):
    """The user has as many tokens as one may have."""

    status_code = 409
    code = "too_many_tokens"


class NoSuchToken(AtributoError):
    """Nobody's token, or somebody else's: the answer is the same."""

    status_code = 404
    code = "no_such_token"


def make_token(user: Any, name: str, level: str, days: int) -> tuple[TokenScope, str]:
    """A new token and its text, which is never to be had again."""
    _check(user, name, level, days)
    with atomic():
        if own_tokens(user).count() >= MOST_TOKENS:
            raise TooManyTokens(f"{user} has {MOST_TOKENS} tokens; revoke one first")
        token, text = AuthToken.objects.create(user=user, expiry=timedelta(days=days))
        scope = TokenScope.objects.create(token=token, level=level, name=name.strip())
        record("token.made", f"token:{scope.pk}", name=scope.name, level=level, days=days)
    return scope, text


def revoke(user: Any, scope_id: int) -> None:
    """End one of the user's own tokens at once."""
    with atomic():
        scope = own_tokens(user).filter(pk=scope_id).first()
        if scope is None:
            raise NoSuchToken(f"{user} has no token {scope_id}")
        end(scope)


def end(scope: TokenScope) -> None:
    """End anybody's token; the caller has checked who may."""
    record("token.revoked", f"token:{scope.pk}", name=scope.name, owner=str(scope.token.user))
    scope.token.delete()


def own_tokens(user: Any) -> QuerySet[TokenScope]:
    """The user's tokens that have not expired, newest first."""
    alive = Q(token__expiry__isnull=True) | Q(token__expiry__gt=Now())
    return (
        TokenScope.objects.filter(alive, token__user=user).select_related("token").order_by("-pk")
    )


def levels_of(user: Any) -> list[Level]:
    """What the user may, and so what a token of theirs may be given."""
    return [level for level in Level if user.has_perm(f"{APP_LABEL}.{level.value}")]


def _check(user: Any, name: str, level: str, days: int) -> None:
    if not name.strip() or len(name.strip()) > LONGEST_NAME or "\x00" in name:
        raise TokenRefused(f"a token needs a name of 1 to {LONGEST_NAME} characters")
    if level not in levels_of(user):
        raise TokenRefused(f"the level must be one of {', '.join(levels_of(user)) or 'none'}")
    if not 1 <= days <= MOST_DAYS:
        raise TokenRefused(f"a token lives 1 to {MOST_DAYS} days")
