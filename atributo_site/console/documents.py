"""Documents: collections, and the keys of one, listed or searched."""

from typing import Any

from django import forms
from django.db.models import Exists, OuterRef
from django.http import HttpRequest, HttpResponse

from allocation.models.clock import database_now
from allocation.transactions.collection_names import MOST_COUNTED, collections
from allocation.transactions.errors import InvalidDocument, SecretField
from allocation.transactions.keys import checked_collection
from allocation.transactions.listing import MOST_SKIPPED
from allocation.transactions.models import Document, Lock
from allocation.transactions.search import searched
from atributo_site.console.changes import brief_value
from atributo_site.console.ordered_pages import page_in_order
from atributo_site.console.screen import Screen

PAGE = 50


class Collections(Screen):
    actions = {"GET": "document.view"}
    template_name = "console/documents/collections.html"
    title = "Documents"

    def get(self, request: HttpRequest) -> HttpResponse:
        after = request.GET.get("after", "")[:255]
        found, following = collections(after, PAGE)
        return self.show(
            collections=found, after=after, following=following, most_counted=MOST_COUNTED
        )


class SearchForm(forms.Form):
    q = forms.CharField(required=False, max_length=4000)
    sort = forms.CharField(required=False, max_length=255)
    offset = forms.IntegerField(required=False, min_value=0, max_value=MOST_SKIPPED)


class Keys(Screen):
    """The keys in their order, or the documents that a query finds."""

    actions = {"GET": "document.view"}
    template_name = "console/documents/keys.html"

    def get(self, request: HttpRequest, collection: str) -> HttpResponse:
        self.title = checked_collection(collection)
        form = SearchForm(request.GET)
        try:
            found = self._found(collection, form)
        except (InvalidDocument, SecretField) as error:
            form.add_error("q", str(error))
        shown: dict[str, Any] = {"collection": collection, "form": form, "now": database_now()}
        if not form.is_valid():
            return self.show(400, rows=None, searching=True, **shown)
        return self.show(**found, **shown)

    def _found(self, collection: str, form: SearchForm) -> dict[str, Any]:
        rows = Document.objects.filter(collection=collection)
        rows = rows.annotate(locked=Exists(Lock.objects.filter(document=OuterRef("pk"))))
        words = form.cleaned_data if form.is_valid() else {}
        if words.get("q") or words.get("sort"):
            return _matching(rows, words)
        given = self.request.GET
        page = page_in_order(
            rows.committed(),
            "key",
            after=given.get("after", ""),
            before=given.get("before", ""),
            size=PAGE,
        )
        return {"rows": _briefly(page.rows), "page": page, "searching": False}


def _matching(rows: Any, words: dict[str, Any]) -> dict[str, Any]:
    offset = words["offset"] or 0
    rows = searched(rows, words["q"] or "*", words["sort"], secrets=False)  # masked on the page
    found = list(rows[offset : offset + PAGE + 1])
    return {
        "rows": _briefly(found[:PAGE]),
        "searching": True,
        "offset": offset,
        "previous": max(0, offset - PAGE) if offset else None,
        "following": offset + PAGE if len(found) > PAGE else None,
    }


def _briefly(rows: list[Any]) -> list[tuple[Any, str]]:
    return [(row, brief_value(row.committed_value)) for row in rows]
