"""One action: the screen with the control, what is clicked and typed, and what follows."""

from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from django.urls import resolve


@dataclass(frozen=True)
class Step:
    """`kind` is a role, `css`, `field` (by its name in the form) or `fold`."""

    kind: str
    name: str
    value: str | None = None

    def find(self, page, words):
        name = self.name.format(**words)
        if self.kind == "css":
            return page.locator(name)
        if self.kind == "field":
            return page.locator(f'main [name="{name}"]').filter(visible=True)
        if self.kind == "fold":
            return page.locator(f'summary[aria-label="{name}"], summary:has-text("{name}")')
        return page.get_by_role(self.kind, name=name, exact=True)

    def do(self, page, words):
        control = self.find(page, words)
        if self.value is None:
            control.click()
        else:
            control.fill(self.value.format(**words))


def press(name):
    return Step("button", name)


def follow(name):
    return Step("link", name)


def unfold(name):
    return Step("fold", name)


def tick(name):
    return Step("checkbox", name)


def choose(field, value):
    """Choose one of a few by the mark beside it."""
    return Step("css", f'main [name="{field}"][value="{value}"]')


def typed(field, text):
    return Step("field", field, text)


def nothing():
    return {}


@dataclass(frozen=True)
class ScreenAction:
    """`changed` reads the database: false before, true afterwards."""

    url: str  # its name in the resolver, with the verb if the address ends in one
    at: str
    steps: tuple[Step, ...]
    seen: str
    changed: Callable
    given: Callable = nothing

    def words(self, ground):
        return {**ground, **self.given()}

    def perform(self, page, ground):
        words = self.words(ground)
        page.goto(self.at.format(**words), wait_until="domcontentloaded")
        assert not self.changed(words), "it is so before anything is done"
        for step in self.steps[:-1]:
            step.do(page, words)
        with page.expect_response(lambda response: self._is_sent_by(response.request)):
            self.steps[-1].do(page, words)
        _locate(page, self.seen.format(**words)).wait_for()
        assert self.changed(words), "the database does not show it"

    def is_offered(self, page, ground):
        """Say whether a person who may open the screen finds the first control on it.

        Only the body is put into the page, without styles, which cannot add a control.
        """
        words = self.words(ground)
        answer = page.request.get(self.at.format(**words))
        assert answer.status in (200, 403)
        body = answer.text().partition("<body")[2].partition(">")[2]
        page.evaluate("body => { document.body.innerHTML = body; }", body)
        return self.steps[0].find(page, words).count() > 0

    def _is_sent_by(self, request):
        if request.method != "POST":
            return False
        match = resolve(unquote(urlsplit(request.url).path))
        verb = match.kwargs.get("verb")
        return self.url == (f"{match.url_name}:{verb}" if verb else match.url_name)


def _locate(page, seen):
    """Find a selector, or a text on the page."""
    return page.locator(seen) if seen.startswith("css=") else page.get_by_text(seen).first
