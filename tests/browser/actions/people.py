"""Actions of people: log in, log out, password, theme, users."""

from functools import partial

from django.contrib.auth.models import User

from atributo_site.core.models import Event
from atributo_site.models import TokenScope
from atributo_site.web import tokens
from tests.browser.actions.screen_action import ScreenAction, follow, press, typed, unfold

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


ACTIONS = [
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
