"""Carry out what a button asks for, at once or after a page that says what will happen."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from atributo_site.console.base.screen import Screen, own_page
from atributo_site.core.errors import AtributoError


class NothingChanged(AtributoError):
    """The action came too late or had nothing to do; people get a warning."""

    status_code = 409
    code = "nothing_changed"


class Action(Screen):
    """POST acts and leads to a page that tells how it went."""

    refusals: tuple[type[Exception], ...] = ()  # told as a message; other errors are pages

    def post(self, request: HttpRequest, **names: Any) -> HttpResponse:
        self.load(**names)
        return self.perform()

    def perform(self) -> HttpResponse:
        try:
            messages.success(self.request, self.act())
        except NothingChanged as error:
            messages.warning(self.request, error.args[0])
        except self.refusals as error:
            return self.refuse(error)
        return redirect(self._page_of_the_button(self.after()))

    def _page_of_the_button(self, otherwise: str) -> str:
        """Return the page of another section, if that has the button, too."""
        page = self.request.POST.get("next", "")
        return own_page(self.request, page, otherwise) if page.startswith("/") else otherwise

    def load(self, *args: Any, **names: Any) -> None:
        """Read what the address names; something that does not exist is a 404."""

    def act(self) -> str:
        """Do it and return the sentence that says so."""
        raise NotImplementedError

    def refuse(self, error: Exception) -> HttpResponse:
        messages.error(self.request, str(error))
        return redirect(self.back())

    def back(self) -> str:
        """Return the page that the button is on."""
        raise NotImplementedError

    def after(self) -> str:
        """Return the page that follows the action."""
        return self.back()


class Confirmation(Action):
    """GET asks on a page of its own, POST acts."""

    template_name = "console/base/confirmation.html"

    def get(self, request: HttpRequest, **names: Any) -> HttpResponse:
        self.load(**names)
        return self.ask()

    def ask(self, status: int = 200, **context: Any) -> HttpResponse:
        question = self.question()
        self.title = self.title or question["heading"]
        return self.show(status, **{"back": self.back(), **question, **context})

    def question(self) -> dict[str, Any]:
        """Return the heading, what happens, the words of both buttons and the equivalents."""
        raise NotImplementedError
