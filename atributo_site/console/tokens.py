"""The user's own REST tokens: make one, see it once, revoke it."""

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from allocation.models.clock import database_now
from atributo_site import tokens
from atributo_site.console.screen import Screen
from atributo_site.console.system import SystemScreen


class TokenForm(forms.Form):
    name = forms.CharField(max_length=tokens.LONGEST_NAME)
    level = forms.ChoiceField()
    days = forms.IntegerField(min_value=1, max_value=tokens.MOST_DAYS)

    def __init__(self, user: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["level"].choices = [  # type: ignore[attr-defined]
            (level.value, level.value) for level in tokens.levels_of(user)
        ]


class Tokens(SystemScreen):
    actions = {"GET": "token.own", "POST": "token.own"}
    url_name = "system-tokens"
    template_name = "console/system/tokens.html"

    def get(self, request: HttpRequest) -> HttpResponse:
        first = {"days": settings.ATRIBUTO.token_days, "level": "view"}
        return self._shown(TokenForm(request.user, initial=first))

    def post(self, request: HttpRequest) -> HttpResponse:
        form = TokenForm(request.user, request.POST)
        if not form.is_valid():
            return self._shown(form, status=400)
        try:
            made, text = tokens.make_token(request.user, **form.cleaned_data)
        except tokens.TooManyTokens as error:
            form.add_error(None, str(error))
            return self._shown(form, status=409)
        return self._shown(TokenForm(request.user), made=made, shown_once=text)

    def _shown(self, form: TokenForm, status: int = 200, **context: Any) -> HttpResponse:
        own = list(tokens.own_tokens(self.request.user))
        return self.show(status, form=form, tokens=own, now=database_now(), **context)


class RevokeToken(Screen):
    actions = {"POST": "token.own"}

    def post(self, request: HttpRequest, token_id: int) -> HttpResponse:
        tokens.revoke(request.user, token_id)
        messages.success(request, "The token is revoked; it works no longer.")
        return redirect("system-tokens")
