"""Look up a name in DNS once, or follow it until the person leaves the page."""

from datetime import datetime
from typing import Any

from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode

from atributo_site.console.base.terminal import curl
from atributo_site.console.pools.forms import LookUpForm
from atributo_site.console.pools.list import PoolScreen
from atributo_site.core.errors import AtributoError
from atributo_site.core.models.clock import database_now
from pools import lookup_tool
from pools.lookup_tool import look_up

FOLLOWED = "followed_names"
SALT = "atributo.look_up"


class LookUp(PoolScreen):
    """The answer has an address that is signed for the user, so that no foreign link looks up."""

    actions = {"GET": "dns.look_up", "POST": "dns.look_up"}
    url_name = "pools-look-up"
    template_name = "console/pools/lookup.html"

    def get(self, request: HttpRequest) -> HttpResponse:
        asked = _signed_by(request.user, request.GET.get("asked", ""))
        if asked is not None:
            return self._look_up(LookUpForm(asked))
        first = {"service": "_http._tcp", "host": request.GET.get("host", "")[:300]}
        return self.show(form=LookUpForm(initial=first))

    def post(self, request: HttpRequest) -> HttpResponse:
        form = LookUpForm(request.POST)
        if not form.is_valid():
            return self.show(400, form=form)
        if "follow" in request.POST:
            return self._follow(form)
        given = {name: request.POST[name] for name in form.fields if request.POST.get(name)}
        asked = signing.dumps([request.user.pk, given], salt=SALT)
        return redirect(f"{reverse('atributo:pools-look-up')}?{urlencode({'asked': asked})}")

    def show(self, status: int = 200, **context: Any) -> HttpResponse:
        host = context["form"]["host"].value() or "svc.example"
        same = curl("/api/v1/resolve", "POST", {"host": host})
        followed = len(self.request.session.get(FOLLOWED, []))
        return super().show(status, curl=same, followed=followed, **context)

    def _look_up(self, form: LookUpForm) -> HttpResponse:
        if not form.is_valid():
            return self.show(400, form=form)
        try:
            return self.show(form=form, answer=look_up(**form.options()))
        except AtributoError as error:
            return self._refuse(form, error)

    def _follow(self, form: LookUpForm) -> HttpResponse:
        try:
            story = lookup_tool.go_on(lookup_tool.begin(form.options()), database_now())
        except AtributoError as error:
            return self._refuse(form, error)
        session = self.request.session
        session[FOLLOWED] = lookup_tool.with_another(session.get(FOLLOWED, []), story)
        return redirect("atributo:pools-follow")

    def _refuse(self, form: LookUpForm, error: AtributoError) -> HttpResponse:
        form.add_error(None, str(error))
        return self.show(error.status_code, form=form)


def _signed_by(user: Any, asked: str) -> dict[str, str] | None:
    try:
        owner, given = signing.loads(asked, salt=SALT)
    except signing.BadSignature:
        return None
    return given if owner == user.pk else None


class Follow(PoolScreen):
    """Follow the names in the session; a foreign link cannot add one."""

    actions = {"GET": "dns.look_up", "POST": "dns.look_up"}
    url_name = "pools-look-up"
    template_name = "console/pools/lookup_followed.html"

    def get(self, request: HttpRequest) -> HttpResponse:
        stories = lookup_tool.go_on_with_one(request.session.get(FOLLOWED, []), database_now())
        if not stories:
            return redirect("atributo:pools-look-up")
        request.session[FOLLOWED] = stories
        return self.show(stories=[{**story, "changes": _changes(story)} for story in stories])

    def post(self, request: HttpRequest) -> HttpResponse:
        """Stop following one name."""
        stories, key = request.session.get(FOLLOWED, []), request.POST.get("key", "")
        request.session[FOLLOWED] = [story for story in stories if story["key"] != key]
        return redirect("atributo:pools-follow")


def _changes(story: dict[str, Any]) -> list[dict[str, Any]]:
    return [{**line, "at": datetime.fromisoformat(line["at"])} for line in story["changes"]]
