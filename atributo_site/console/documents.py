"""Documents: by collection and key, with search, history and differences."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse

from allocation.errors import AtributoError
from allocation.models.clock import database_now
from allocation.transactions import listing
from allocation.transactions.models import Document, DocumentVersion, Lock
from atributo_site.console.journal import history
from atributo_site.console.transactions import TransactionScreen

PAGE = 50


class Documents(TransactionScreen):
    """One collection, as committed; a query searches in it."""

    actions = {"GET": "document.view"}
    url_name = "documents"
    template_name = "console/documents.html"
    title = "Documents"

    def get(self, request: HttpRequest) -> HttpResponse:
        asked: dict[str, Any] = {
            name: request.GET.get(name, "") for name in ("collection", "query", "after")
        }
        try:
            results, following = _found(asked)
        except AtributoError as error:
            return self.show(400, **asked, results=[], following=None, error=str(error))
        newest = list(Document.objects.present().order_by("-pk")[:10])
        return self.show(**asked, results=results, following=following, newest=newest)


class One(TransactionScreen):
    actions = {"GET": "document.view"}
    url_name = "documents"
    template_name = "console/document.html"

    def get(self, request: HttpRequest, collection: str, key: str) -> HttpResponse:
        document = Document.objects.at(collection, key).first()
        if document is None:
            raise Http404(f"There is no document {collection}/{key}.")
        versions = DocumentVersion.objects.filter(document=document).order_by("-pk")
        return self.show(
            title=str(document),
            document=document,
            locks=Lock.objects.filter(document=document).with_names()[:20],
            history=history(list(versions[:PAGE])),
            now=database_now(),
        )


def _found(asked: dict[str, Any]) -> tuple[list[dict[str, Any]], Any]:
    if not asked["collection"]:
        return [], None
    if asked["query"]:
        results, _ = listing.found(asked["collection"], asked["query"], "", PAGE, 0)
        return results, None
    return listing.listed(asked["collection"], PAGE, asked["after"] or None)
