"""A page that says what an action will do, and does it once there is a reason."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from allocation.transactions.engine.roll_back import FAILURES
from atributo_site.console.base.forms import reason_of
from atributo_site.console.base.screen import Screen


class Confirmation(Screen):
    """A subclass says what it is about and what happens, and acts."""

    template_name = "console/transactions/confirm.html"
    button = ""

    def get(self, request: HttpRequest, **names: Any) -> HttpResponse:
        return self._ask(names)

    def post(self, request: HttpRequest, **names: Any) -> HttpResponse:
        reason = reason_of(request)
        if not reason:
            return self._ask(names, 400, error="Say why: a reason is missing.")
        self.about(**names)  # what is not there is a 404, not a message
        try:
            messages.success(request, self.act(reason, **names))
        except FAILURES as error:
            messages.error(request, f"Not done. {error}")
        return HttpResponseRedirect(self.back(**names))

    def about(self, *args: Any, **names: Any) -> dict[str, Any]:
        """What the page shows, the heading and the sentences among it."""
        raise NotImplementedError

    def act(self, reason: str, *args: Any, **names: Any) -> str:
        """Do it; the sentence that says so."""
        raise NotImplementedError

    def back(self, *args: Any, **names: Any) -> str:
        """Where the page came from and leads to afterwards."""
        raise NotImplementedError

    def _ask(self, names: dict[str, Any], status: int = 200, **context: Any) -> HttpResponse:
        shown = {"button": self.button, "back": self.back(**names), **self.about(**names)}
        self.title = shown["heading"]
        reason = self.request.POST.get("reason", "")
        return self.show(status, reason=reason, **shown, **context)
