"""List the users, make one with a role, change, disable and enable one, reset a password."""

from shlex import quote as shell_quote
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.models import User
from django.db.transaction import atomic
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse

from atributo_site.console.base.actions import Action, Confirmation, NothingChanged
from atributo_site.console.base.forms import reason_of
from atributo_site.console.base.submit_once import FormTooOld, SentBefore, claim, new_number
from atributo_site.console.base.terminal import curl
from atributo_site.console.system.forms import UserFilter, UserForm, UserRole
from atributo_site.console.system.health import SystemScreen
from atributo_site.core.models.clock import database_now
from atributo_site.web import tokens, users
from atributo_site.web.pagination import page_by_key

MADE_ALREADY = (
    "No user was created: this form was already sent, and the password was shown then."
    " If you did not copy it, reset the password of the user."
)
RESET_ALREADY = "This password was already reset. If you did not copy it, reset it once more."


class UsersScreen(SystemScreen):
    url_name = "system-users"


class Users(UsersScreen):
    actions = {"GET": "user.administer", "POST": "user.administer"}
    template_name = "console/system/users.html"

    def get(self, request: HttpRequest) -> HttpResponse:
        return self._render(UserForm())

    def post(self, request: HttpRequest) -> HttpResponse:
        form = UserForm(request.POST)
        if not form.is_valid():
            return self._render(form, status=400)
        try:
            with atomic():
                claim(request.user, request.POST.get("number", ""))
                made, password = users.make_user(**form.cleaned_data)
        except SentBefore:
            messages.warning(request, MADE_ALREADY)
            return redirect("atributo:system-users")
        except (users.UserRefused, FormTooOld) as error:
            form.add_error(None, str(error))
            return self._render(form, status=409)
        return self._render(UserForm(), made=made, shown_once=password)

    def _render(self, form: UserForm, status: int = 200, **context: Any) -> HttpResponse:
        wanted = UserFilter(self.request.GET)
        page = page_by_key(wanted.filtered(users.listed()), **self.page_keys, descending=False)
        rows = [
            {"user": user, "role": users.role_given(user), "seen_at": users.last_seen(user)}
            for user in page.rows
        ]
        number = new_number(self.request.user)
        context = {"page": page, "rows": rows, "wanted": wanted, "now": database_now(), **context}
        return self.show(status, form=form, number=number, **context)


class OneUser(UsersScreen):
    actions = {"GET": "user.administer", "POST": "user.administer"}
    template_name = "console/system/user.html"

    def get(self, request: HttpRequest, pk: int) -> HttpResponse:
        person = get_object_or_404(users.listed(), pk=pk)
        role = users.role_given(person)
        return self._render(person, UserRole(initial={"role": role, "email": person.email}))

    def post(self, request: HttpRequest, pk: int) -> HttpResponse:
        person = get_object_or_404(users.listed(), pk=pk)
        form = UserRole(request.POST)
        if not form.is_valid():
            return self._render(person, form, 400)
        try:
            users.change_user(person, **form.cleaned_data, by=request.user)
        except users.UserRefused as error:
            form.add_error(None, str(error))
            return self._render(person, form, 409)
        messages.success(request, f"{person} is saved.")
        return redirect("atributo:system-user", pk)

    def _render(self, person: Any, form: UserRole, status: int = 200) -> HttpResponse:
        return self.show(
            status,
            person=person,
            form=form,
            role=users.role_given(person),
            seen_at=users.last_seen(person),
            tokens=list(users.tokens_of(person)[: tokens.MOST_TOKENS]),
            is_self=person == self.request.user,
            rest=curl(f"/api/v1/tokens?{urlencode({'user': person.username})}"),
            command=_change_password(person),
            now=database_now(),
        )


def _change_password(person: Any) -> str:
    return f"manage.py changepassword {shell_quote(person.get_username())}"


class UserAction(Action):
    """Do something to the user of the address, and lead back to its page."""

    refusals: tuple[type[Exception], ...] = (users.UserRefused,)

    def load(self, pk: int, **names: Any) -> None:
        self.person = get_object_or_404(User, pk=pk)
        self.names = names

    def back(self) -> str:
        return reverse("atributo:system-user", args=[self.person.pk])


class DisableUser(UserAction, Confirmation):
    """Ask first; a form that did not come from the question changes nothing."""

    actions = {"GET": "user.administer", "POST": "user.administer"}
    template_name = "console/system/user_reset.html"
    refusals = (users.UserRefused, SentBefore, FormTooOld)

    def question(self) -> dict[str, Any]:
        return {
            "crumbs": [
                ("Users", reverse("atributo:system-users")),
                (str(self.person), self.back()),
            ],
            "heading": f"Disable {self.person}",
            "lead": "They are logged out, their tokens stop working and they cannot log in again"
            " until somebody enables them. Nothing that they did is lost.",
            "takes_reason": True,
            "is_danger": True,
            "number": new_number(self.request.user),
            "button": "Disable",
            "leave": "Cancel",
        }

    def act(self) -> str:
        with atomic():
            claim(self.request.user, self.request.POST.get("number", ""))
            changed = users.disable(self.person, reason_of(self.request), by=self.request.user)
        if not changed:
            raise NothingChanged(f"{self.person} was already disabled.")
        return f"{self.person} is disabled."


class EnableUser(UserAction):
    actions = {"POST": "user.administer"}

    def act(self) -> str:
        if not users.enable(self.person):
            raise NothingChanged(f"{self.person} was already enabled.")
        return f"{self.person} can log in again."


class ResetPassword(UserAction, Confirmation):
    """Ask, then show the new password once."""

    actions = {"GET": "user.administer", "POST": "user.administer"}
    template_name = "console/system/user_reset.html"

    def question(self) -> dict[str, Any]:
        return {
            "crumbs": [
                ("Users", reverse("atributo:system-users")),
                (str(self.person), self.back()),
            ],
            "heading": f"Reset the password of {self.person}",
            "lead": "A new password is made and shown once. The old one stops working at once, and"
            " all of their sessions end; their tokens go on working.",
            "number": new_number(self.request.user),
            "button": "Reset password",
            "leave": "Cancel",
            "command": _change_password(self.person),
        }

    def perform(self) -> HttpResponse:
        try:
            with atomic():
                claim(self.request.user, self.request.POST.get("number", ""))
                password = users.reset_password(self.person)
        except SentBefore:
            messages.warning(self.request, RESET_ALREADY)
            return redirect(self.back())
        except FormTooOld as error:
            return self.ask(409, refusal=str(error))
        return self.ask(shown_once=password)


class RevokeTheirToken(UserAction):
    actions = {"POST": "user.administer"}

    def act(self) -> str:
        scope = users.tokens_of(self.person).filter(pk=self.names["token_id"]).first()
        if scope is None:
            raise NothingChanged("The token was already revoked.")
        tokens.end(scope)
        return f"The token {scope.name} is revoked and no longer works."
