"""List the user's own REST tokens, make one and show it once, revoke one."""

from typing import Any

from django.contrib import messages
from django.db.transaction import atomic
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from atributo_site.console.base.actions import Action
from atributo_site.console.base.submit_once import FormTooOld, SentBefore, claim, new_number
from atributo_site.console.system.forms import TokenForm
from atributo_site.console.system.health import SystemScreen
from atributo_site.core.models.clock import database_now
from atributo_site.models import TokenScope
from atributo_site.web import tokens

MADE_ALREADY = (
    "No token was created: this form was already sent, and its token was shown then."
    " If you did not copy it, revoke it and create another."
)


class Tokens(SystemScreen):
    actions = {"GET": "token.own", "POST": "token.own"}
    url_name = "system-tokens"
    template_name = "console/system/tokens.html"

    def get(self, request: HttpRequest) -> HttpResponse:
        first = {"days": tokens.most_days(), "level": "view"}
        return self._render(TokenForm(request.user, initial=first))

    def post(self, request: HttpRequest) -> HttpResponse:
        form = TokenForm(request.user, request.POST)
        if not form.is_valid():
            return self._render(form, status=400)
        try:
            made, text = self._make(form)
        except SentBefore:
            messages.warning(request, MADE_ALREADY)
            return redirect("atributo:system-tokens")
        except (tokens.TooManyTokens, FormTooOld) as error:
            form.add_error(None, str(error))
            return self._render(form, status=409)
        return self._render(TokenForm(request.user), made=made, shown_once=text)

    def _make(self, form: TokenForm) -> tuple[TokenScope, str]:
        with atomic():
            claim(self.request.user, self.request.POST.get("number", ""))
            return tokens.make_token(self.request.user, **form.cleaned_data)

    def _render(self, form: TokenForm, status: int = 200, **context: Any) -> HttpResponse:
        own = list(tokens.own_tokens(self.request.user))
        number = new_number(self.request.user)
        now = database_now()
        context = {"tokens": own, "most_days": tokens.most_days(), "now": now, **context}
        return self.show(status, form=form, number=number, **context)


class RevokeToken(Action):
    actions = {"POST": "token.own"}

    def load(self, token_id: int) -> None:
        self.token_id = token_id

    def act(self) -> str:
        tokens.revoke(self.request.user, self.token_id)
        return "The token is revoked and no longer works."

    def back(self) -> str:
        return reverse("atributo:system-tokens")
