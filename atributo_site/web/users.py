"""Make users, give them a role, disable them, give them a new password; each leaves an event."""

import secrets
from typing import Any

from django.contrib.auth.models import Group, User
from django.core.exceptions import ValidationError
from django.db import IntegrityError
from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Now
from django.db.transaction import atomic

from atributo_site.core.errors import AtributoError
from atributo_site.core.events import record
from atributo_site.core.models import Event
from atributo_site.models import TokenScope
from atributo_site.permissions import ROLES

LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # none that looks like another
NO_ROLE = "none"
SUPERUSER = "superuser"


class UserRefused(AtributoError):
    """A user that cannot be made or changed like this."""

    status_code = 409
    code = "user_refused"


def listed() -> QuerySet[User]:
    """Return users with the number of their tokens and the moment of their last event."""
    alive = Q(auth_token_set__expiry__isnull=True) | Q(auth_token_set__expiry__gt=Now())
    newest = Event.objects.filter(actor=OuterRef("username")).order_by("-pk").values("at")[:1]
    return User.objects.prefetch_related("groups").annotate(
        tokens=Count("auth_token_set", filter=alive), acted_at=Subquery(newest)
    )


def last_seen(user: Any) -> Any:
    """Return the newest of log-in and event; None for somebody who never came."""
    return max(filter(None, [user.last_login, user.acted_at]), default=None)


def role_given(user: User) -> str:
    """Return the highest role that the user was given, also while disabled."""
    if user.is_superuser:
        return SUPERUSER
    given = {group.name for group in user.groups.all()}
    return next((role for role in reversed(ROLES) if role in given), NO_ROLE)


def tokens_of(user: User) -> QuerySet[TokenScope]:
    return TokenScope.objects.filter(token__user=user).select_related("token").order_by("-pk")


def make_user(username: str, role: str, email: str = "") -> tuple[User, str]:
    """Make a user with a password of its own, which is returned and cannot be read again."""
    user, password = User(username=User.normalize_username(username), email=email), new_password()
    user.set_password(password)
    try:
        user.full_clean(exclude=["password"])
        with atomic():
            user.save(force_insert=True)
            user.groups.set(_group(role))
            record("user.added", _subject(user), role=role)
    except (ValidationError, IntegrityError) as error:
        raise UserRefused(_why(error, username)) from error
    return user, password


def change_user(user: User, role: str, email: str, *, by: Any) -> None:
    """Give another role or address; nobody takes the role of an administrator from oneself."""
    before = role_given(user)
    if SUPERUSER in (before, role) and before != role:
        raise UserRefused("A superuser is not made or changed here. Disable the user instead.")
    if user == by and role != before:
        raise UserRefused("You cannot change your own role. Ask another administrator.")
    with atomic():
        User.objects.filter(pk=user.pk).update(email=email)
        if role != before:
            user.groups.set(_group(role))
        changes: dict[str, Any] = {"role": [before, role]} if role != before else {}
        changes |= {"email": [user.email, email]} if user.email != email else {}
        if changes:
            record("user.changed", _subject(user), **changes)


def disable(user: User, reason: str = "", *, by: Any) -> bool:
    """Let the user in no more, by no session and no token; False if that was so before."""
    if user == by:
        raise UserRefused("You cannot disable yourself. Ask another administrator.")
    with atomic():
        changed = User.objects.filter(pk=user.pk, is_active=True).update(is_active=False) == 1
        if changed:
            record("user.disabled", _subject(user), **({"reason": reason} if reason else {}))
    return changed


def enable(user: User) -> bool:
    with atomic():
        changed = User.objects.filter(pk=user.pk, is_active=False).update(is_active=True) == 1
        if changed:
            record("user.enabled", _subject(user))
    return changed


def reset_password(user: User) -> str:
    """Replace the password, which ends all sessions of the user, and return the new one."""
    password = new_password()
    user.set_password(password)
    with atomic():
        User.objects.filter(pk=user.pk).update(password=user.password)
        record("user.password_reset", _subject(user))
    return password


def new_password() -> str:
    """Return twenty letters in groups of five, which can be read out."""
    return "-".join("".join(secrets.choice(LETTERS) for _ in range(5)) for _ in range(4))


def _group(role: str) -> QuerySet[Group]:
    if role not in ROLES and role != NO_ROLE:
        raise UserRefused(f"The role must be one of {', '.join(ROLES)}, {NO_ROLE}.")
    return Group.objects.filter(name=role)


def _subject(user: User) -> str:
    return f"user:{user.get_username()}"


def _why(error: Exception, username: str) -> str:
    if isinstance(error, ValidationError):
        return " ".join(error.messages)
    return f"A user with the name {username} already exists."
