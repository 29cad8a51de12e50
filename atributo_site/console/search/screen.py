"""The page of results, and the few that appear below the box while one types."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from atributo_site.console.base.screen import Screen
from atributo_site.console.search import finders
from atributo_site.console.search.hits import Asked, Finder, Group, grouped

LONGEST = 320
MOST_WORDS = 8
MOST_SUGGESTED = 5  # of a kind, below the box
BOX = "suggestions"  # what the box of the top bar asks for
FINDERS: list[Finder] = [
    finders.screens,
    finders.queues,
    finders.services,
    finders.scripts,
    finders.jobs,
    finders.errors,
    finders.instances,
    finders.keys,
    finders.documents,
    finders.transactions,
    finders.watched_names,
    finders.users,
    finders.subjects,
    finders.kinds_and_actors,
]


class Search(Screen):
    actions = {"GET": "overview.view"}
    template_name = "console/search/page.html"
    title = "Search"

    def get(self, request: HttpRequest) -> HttpResponse:
        text = _typed(request)
        if request.headers.get("HX-Target") == BOX:
            groups = found(Asked(text, request.user), MOST_SUGGESTED)
            context = {"searched": text, "groups": groups}
            return render(request, "console/search/suggestions.html", context)
        return self.show(searched=text, groups=found(Asked(text, request.user)))


def _typed(request: HttpRequest) -> str:
    """Return the text; more words than anybody types would only make each look longer."""
    text = request.GET.get("q", "").strip()[:LONGEST]
    words = text.split()
    return text if len(words) <= MOST_WORDS else " ".join(words[:MOST_WORDS])


def found(asked: Asked, most: int | None = None) -> list[Group]:
    if not asked.text:
        return []
    hits = [hit for find in FINDERS for hit in find(asked)]
    return grouped(hits, asked.text) if most is None else grouped(hits, asked.text, most)
