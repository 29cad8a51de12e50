"""Make and revoke REST tokens. A token is shown once; the database holds only its hash."""

from typing import Any

from django.conf import settings
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Least, Now
from django.db.transaction import atomic
from knox.models import AuthToken, get_digest_token
from knox.settings import CONSTANTS

from atributo_site.core.after_commit import after_commit
from atributo_site.core.errors import AtributoError
from atributo_site.core.events import record
from atributo_site.core.models.clock import from_now
from atributo_site.models import TokenScope
from atributo_site.permissions import APP_LABEL, Level
from atributo_site.rest.authentication import known_tokens

MOST_TOKENS = 100
LONGEST_NAME = 100
DAY_SECONDS = 24 * 60 * 60


class TokenRefused(AtributoError):
    """A token that cannot be made with these settings."""

    status_code = 400
    code = "token_refused"


class TooManyTokens(AtributoError):
    """The user has as many tokens as allowed."""

    status_code = 409
    code = "too_many_tokens"


class NoSuchToken(AtributoError):
    """The token does not exist, or it belongs to somebody else."""

    status_code = 404
    code = "no_such_token"


def make_token(
    user: Any,
    name: str,
    level: str,
    days: int,
    source: str = TokenScope.Source.MANUAL,
    *,
    by: TokenScope | None = None,
) -> tuple[TokenScope, str]:
    """Make a token and return it with its text, which cannot be read again.

    A token made `by` another one does not outlive it, and that of a program makes no person's.
    """
    _check(user, name, level, days)
    _check_source(source, by)
    with atomic():
        if own_tokens(user).count() >= MOST_TOKENS:
            raise TooManyTokens(f"{user} has {MOST_TOKENS} tokens; revoke one first")
        digest, text = _new_token(user, days, by)
        scope = TokenScope.objects.create(
            token_id=digest, level=level, name=name.strip(), source=source
        )
        facts: dict[str, Any] = {"name": scope.name, "level": level, "days": days, "source": source}
        record("token.made", f"token:{scope.pk}", **facts)
    return scope, text


def revoke(user: Any, scope_id: int) -> None:
    """End one of the user's own tokens at once."""
    with atomic():
        scope = own_tokens(user).filter(pk=scope_id).first()
        if scope is None:
            raise NoSuchToken(f"{user} has no token {scope_id}")
        end(scope)


def end(scope: TokenScope) -> None:
    """End anybody's token; the caller has checked the permission."""
    with atomic():
        owner = str(scope.token.user)
        gone, _ = AuthToken.objects.filter(pk=scope.token_id).delete()
        if gone:
            record("token.revoked", f"token:{scope.pk}", name=scope.name, owner=owner)
        after_commit(lambda: known_tokens.forget(scope.token_id))


def own_tokens(user: Any) -> QuerySet[TokenScope]:
    """Return the user's unexpired tokens, newest first."""
    alive = Q(token__expiry__isnull=True) | Q(token__expiry__gt=Now())
    return (
        TokenScope.objects.filter(alive, token__user=user).select_related("token").order_by("-pk")
    )


def levels_of(user: Any) -> list[Level]:
    """Return the levels that the user has and may give to a token."""
    return [level for level in Level if user.has_perm(f"{APP_LABEL}.{level.value}")]


def most_days() -> int:
    """Return the longest life of a token, whichever door makes it."""
    return settings.ATRIBUTO.token_days


def _new_token(user: Any, days: int, by: TokenScope | None) -> tuple[str, str]:
    """Create a token without knox's `create`, which reads the clock of this machine."""
    digest, text = get_digest_token()
    expiry = from_now(days * DAY_SECONDS)
    AuthToken(
        digest=digest, token_key=text[: CONSTANTS.TOKEN_KEY_LENGTH], user=user, expiry=expiry
    ).save()
    if by is not None and by.token.expiry is not None:
        own = AuthToken.objects.filter(pk=digest)
        own.update(expiry=Least(F("expiry"), by.token.expiry))
    return digest, text


def _check(user: Any, name: str, level: str, days: int) -> None:
    if not name.strip() or len(name.strip()) > LONGEST_NAME or "\x00" in name:
        raise TokenRefused(f"a token needs a name of 1 to {LONGEST_NAME} characters")
    if level not in levels_of(user):
        raise TokenRefused(f"the level must be one of {', '.join(levels_of(user)) or 'none'}")
    if not 1 <= days <= most_days():
        raise TokenRefused(f"a token is valid for 1 to {most_days()} days")


def _check_source(source: str, by: TokenScope | None) -> None:
    if source not in TokenScope.Source.values:
        raise TokenRefused(f"the source must be one of {', '.join(TokenScope.Source.values)}")
    if by is not None and by.source == TokenScope.Source.WORKER != source:
        raise TokenRefused("a program's token can only create tokens with the source worker")
