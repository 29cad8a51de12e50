"""List collections and their keys; show one document with its versions and locks."""

from typing import Any

from django.db.models import Exists, OuterRef
from django.http import HttpRequest, HttpResponse

from allocation.transactions.documents.documents import MOST_COUNTED, collections
from allocation.transactions.documents.search import searched
from allocation.transactions.errors import DocumentNotFound, InvalidDocument, SecretField
from allocation.transactions.logic.diff import MISSING
from allocation.transactions.models import Document, DocumentVersion, Lock
from allocation.transactions.models.lock import Mode
from allocation.transactions.store.keys import Key, checked_collection
from atributo_site.console.base.screen import Screen
from atributo_site.console.transactions.forms import SearchForm
from atributo_site.console.transactions.journal import brief_value, changes, value_text
from atributo_site.console.transactions.locks import held
from atributo_site.core.models import Event
from atributo_site.core.models.clock import database_now
from atributo_site.permissions import may
from atributo_site.web.pagination import page_by_key, page_in_order

MOST_LOCKS = 100
VERSIONS = 25
NEWEST_EVENTS = 10
PAGE = 50


class Collections(Screen):
    actions = {"GET": "document.view"}
    template_name = "console/transactions/documents.html"
    title = "Documents"

    def get(self, request: HttpRequest) -> HttpResponse:
        after = request.GET.get("after", "")[:255]
        rows, following = collections(after, PAGE)
        return self.show(
            collections=rows, after=after, following=following, most_counted=MOST_COUNTED
        )


class Keys(Screen):
    """List the keys in order, or the documents that match a query."""

    actions = {"GET": "document.view"}
    template_name = "console/transactions/documents_keys.html"

    def get(self, request: HttpRequest, collection: str) -> HttpResponse:
        self.title = checked_collection(collection)
        form = SearchForm(request.GET)
        try:
            listed = self._list(collection, form)
        except (InvalidDocument, SecretField) as error:
            form.add_error("q", str(error))
        common: dict[str, Any] = {"collection": collection, "form": form, "now": database_now()}
        if not form.is_valid():
            return self.show(400, rows=None, searching=True, **common)
        return self.show(**listed, **common)

    def _list(self, collection: str, form: SearchForm) -> dict[str, Any]:
        rows = Document.objects.filter(collection=collection)
        rows = rows.annotate(locked=Exists(Lock.objects.filter(document=OuterRef("pk"))))
        words = form.cleaned_data if form.is_valid() else {}
        if words.get("q") or words.get("sort"):
            return _matching(rows, words)
        page = page_in_order(
            rows.committed(),
            "key",
            **self.page_keys,
            size=PAGE,
        )
        return {"rows": _with_brief_values(page.rows), "page": page, "searching": False}


def _matching(rows: Any, words: dict[str, Any]) -> dict[str, Any]:
    offset = words["offset"] or 0
    rows = searched(rows, words["q"] or "*", words["sort"], secrets=False)  # masked on the page
    matches = list(rows[offset : offset + PAGE + 1])
    return {
        "rows": _with_brief_values(matches[:PAGE]),
        "searching": True,
        "offset": offset,
        "previous": max(0, offset - PAGE) if offset else None,
        "following": offset + PAGE if len(matches) > PAGE else None,
    }


def _with_brief_values(rows: list[Any]) -> list[tuple[Any, str]]:
    return [(row, brief_value(row.committed_value)) for row in rows]


class DocumentDetail(Screen):
    actions = {"GET": "document.view"}
    template_name = "console/transactions/document.html"

    def get(self, request: HttpRequest, collection: str, key: str) -> HttpResponse:
        place = Key.of(collection, key)
        row = Document.objects.at(*place).first()
        if row is None:
            raise DocumentNotFound(f"Document {collection}/{key} does not exist.")
        self.title, now = str(row), database_now()
        page = page_by_key(
            DocumentVersion.objects.not_undone().filter(document=row).defer("value"),
            **self.page_keys,
            size=VERSIONS,
        )
        locks = list(Lock.objects.filter(document=row).with_names()[:MOST_LOCKS])
        return self.show(
            row=row,
            page=page,
            locks=held(locks, now),
            writing={lock.transaction_id for lock in locks if lock.mode == Mode.EXCLUSIVE},
            events=list(Event.objects.about(f"document:{row}").newest_first()[:NEWEST_EVENTS]),
            may_release=may(request.user, "lock.release"),
            now=now,
            **_committed(place),
            **self._compared(row, page.rows),
        )

    def _compared(self, row: Document, newest: list[DocumentVersion]) -> dict[str, Any]:
        """Compare the two versions that the address names, else the last two."""
        refs = [version.ref for version in newest]
        new = self.request.GET.get("to") or (refs[0] if refs else "")
        old = self.request.GET.get("from") or next(iter(refs[1:]), "")
        kept = DocumentVersion.objects.not_undone()
        chosen = kept.filter(document=row, ref__in={old, new})
        versions = {version.ref: version for version in chosen}
        if old not in versions or new not in versions:
            return {"old": old, "new": new, "changes": None}
        return {
            "old": old,
            "new": new,
            "changes": changes(_value(versions[old]), _value(versions[new])),
        }


def _committed(place: Key) -> dict[str, Any]:
    """Return the committed value, without what open transactions wrote."""
    row: Any = Document.objects.at(*place).committed().first()
    if row is None:
        return {"committed": None}
    text, more = value_text(row.committed_value)
    return {"committed": row, "text": text, "more": more}


def _value(version: DocumentVersion) -> Any:
    return version.value if version.present else MISSING
