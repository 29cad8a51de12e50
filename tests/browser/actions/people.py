"""Actions of people: log in, log out, password, theme, users."""

from functools import partial

from django.contrib.auth.models import User

from atributo_site.core.models import Event
from atributo_site.models import TokenScope
from atributo_site.web import tokens
from tests.browser.actions.screen_action import ScreenAction, choose, follow, press, typed, unfold

PASSWORD = "correct horse battery staple"
NEW_PASSWORD = "another horse, another staple"
PAGE = "/admin/auth/user/{id}/change/"


def person(name):
    return {"id": User.objects.create_user(name, password=PASSWORD).pk, "name": name}


def scope():
    owner = User.objects.get(username="viewer")
    made, _ = tokens.make_token(owner, name="lost", level="view", days=1)
    return {"id": made.pk}


def can_enter(words):
    return User.objects.get(username=words["name"]).check_password(NEW_PASSWORD)


def happened(kind):
    return lambda words: Event.objects.filter(kind=kind).exists()


def somebody(name, **fields):
    return {"id": User.objects.create(username=name, **fields).pk, "name": name}


def their_token():
    owner = User.objects.get(username="operator")
    tokens.make_token(owner, name="leaked", level="view", days=1)
    return {"id": owner.pk, "name": "leaked"}


def has_role(words, role):
    return User.objects.filter(username=words["name"], groups__name=role).exists()


def is_active(words):
    return User.objects.get(pk=words["id"]).is_active


USER = "/system/users/{id}/"
ACTIONS = [
    ScreenAction(
        "system-users",
        at="/system/users/",
        steps=(typed("username", "nora"), choose("role", "operator"), press("Create user")),
        seen="It is shown only once",
        changed=lambda words: User.objects.filter(
            username="nora", groups__name="operator"
        ).exists(),
    ),
    ScreenAction(
        "system-user",
        given=partial(somebody, "paul"),
        at=USER,
        steps=(choose("role", "viewer"), press("Save")),
        seen="paul is saved.",
        changed=lambda words: has_role(words, "viewer"),
    ),
    ScreenAction(
        "system-user-disable",
        given=partial(somebody, "quinn"),
        at=USER,
        steps=(follow("Disable"), typed("reason", "left us"), press("Disable")),
        seen="quinn is disabled.",
        changed=lambda words: not is_active(words),
    ),
    ScreenAction(
        "system-user-enable",
        given=partial(somebody, "rosa", is_active=False),
        at=USER,
        steps=(press("Enable"),),
        seen="rosa can log in again.",
        changed=is_active,
    ),
    ScreenAction(
        "system-user-reset",
        given=partial(somebody, "sven"),
        at=USER,
        steps=(follow("Reset password"), press("Reset password")),
        seen="It is shown only once",
        changed=lambda words: User.objects.get(pk=words["id"]).password != "",
    ),
    ScreenAction(
        "system-user-token-revoke",
        given=their_token,
        at=USER,
        steps=(press("Revoke {name}"),),
        seen="The token leaked is revoked and no longer works.",
        changed=lambda words: not TokenScope.objects.filter(name="leaked").exists(),
    ),
    ScreenAction(
        "password_change",
        at="/admin/password_change/",
        steps=(
            typed("old_password", PASSWORD),
            typed("new_password1", NEW_PASSWORD),
            typed("new_password2", NEW_PASSWORD),
            press("Change my password"),
        ),
        seen="Your password was changed.",
        changed=lambda words: can_enter({"name": "viewer"}),
    ),
    ScreenAction(
        "auth_user_add",
        at="/admin/auth/user/",
        steps=(
            follow("Add user"),
            typed("username", "olga"),
            typed("password1", NEW_PASSWORD),
            typed("password2", NEW_PASSWORD),
            press("Save"),
        ),
        seen="was added successfully.",
        changed=lambda words: User.objects.filter(username="olga").exists(),
    ),
    ScreenAction(
        "auth_user_change",
        given=partial(person, "vera"),
        at=PAGE,
        steps=(typed("email", "vera@example.org"), press("Save")),
        seen="was changed successfully.",
        changed=lambda words: User.objects.filter(email="vera@example.org").exists(),
    ),
    ScreenAction(
        "auth_user_password_change",
        given=partial(person, "walt"),
        at="/admin/auth/user/{id}/password/",
        steps=(
            typed("password1", NEW_PASSWORD),
            typed("password2", NEW_PASSWORD),
            press("Change password"),
        ),
        seen="Password changed successfully.",
        changed=can_enter,
    ),
    ScreenAction(
        "atributo_site_tokenscope_delete",
        given=scope,
        at="/admin/atributo_site/tokenscope/{id}/change/",
        steps=(follow("Delete"), press("Yes, I’m sure")),
        seen="was deleted successfully.",
        changed=lambda words: not TokenScope.objects.filter(name="lost").exists(),
    ),
]
LOG_IN = [
    ScreenAction(
        "login",
        at="/events/",
        steps=(typed("username", "viewer"), typed("password", PASSWORD), press("Log in")),
        seen="css=h1:text-is('Events')",
        changed=happened("user.logged_in"),
    )
]
LOG_OUT = [
    ScreenAction(
        "logout",
        at="/",
        steps=(unfold("viewer"), press("Log out")),
        seen="css=h1:text-is('Log in')",
        changed=happened("user.logged_out"),
    )
]
