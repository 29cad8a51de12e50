"""One document: its value, who holds it, its history, and what changed between two versions."""

from typing import Any

from django.http import HttpRequest, HttpResponse

from allocation.logic.diff import MISSING
from allocation.models import Event
from allocation.models.clock import database_now
from allocation.transactions.errors import DocumentNotFound
from allocation.transactions.keys import Key
from allocation.transactions.models import Document as Row
from allocation.transactions.models import DocumentVersion, Lock
from allocation.transactions.models.lock import Mode
from atributo_site.console.changes import changes, value_text
from atributo_site.console.locks import held
from atributo_site.console.screen import Screen
from atributo_site.keyset import page_by_key
from atributo_site.permissions import may

MOST_LOCKS = 100
VERSIONS = 25
NEWEST_EVENTS = 10


class Document(Screen):
    actions = {"GET": "document.view"}
    template_name = "console/documents/one.html"

    def get(self, request: HttpRequest, collection: str, key: str) -> HttpResponse:
        place = Key.of(collection, key)
        row = Row.objects.at(*place).first()
        if row is None:
            raise DocumentNotFound(f"There is no document {collection}/{key}.")
        self.title, now = str(row), database_now()
        page = page_by_key(
            DocumentVersion.objects.not_undone().filter(document=row).defer("value"),
            after=request.GET.get("after", ""),
            before=request.GET.get("before", ""),
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

    def _compared(self, row: Row, newest: list[DocumentVersion]) -> dict[str, Any]:
        """The two versions that the address names, else the last two."""
        refs = [version.ref for version in newest]
        new = self.request.GET.get("to") or (refs[0] if refs else "")
        old = self.request.GET.get("from") or next(iter(refs[1:]), "")
        kept = DocumentVersion.objects.not_undone()
        found = kept.filter(document=row, ref__in={old, new})
        versions = {version.ref: version for version in found}
        if old not in versions or new not in versions:
            return {"old": old, "new": new, "changes": None}
        return {
            "old": old,
            "new": new,
            "changes": changes(_value(versions[old]), _value(versions[new])),
        }


def _committed(place: Key) -> dict[str, Any]:
    """What stands now; what an open transaction wrote is not part of it."""
    row: Any = Row.objects.at(*place).committed().first()
    if row is None:
        return {"committed": None}
    text, more = value_text(row.committed_value)
    return {"committed": row, "text": text, "more": more}


def _value(version: DocumentVersion) -> Any:
    return version.value if version.present else MISSING
