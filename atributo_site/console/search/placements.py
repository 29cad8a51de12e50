"""Find instances, keys, transactions and documents."""

from collections.abc import Iterator

from django.db.models import F, Value
from django.db.models.functions import Concat
from django.urls import reverse

from allocation.models import Allocation, Instance
from allocation.transactions.documents.names import starting_with
from allocation.transactions.models import Document, Transaction
from atributo_site.console.search.hits import MOST_OF_A_KIND, Asked, Hit
from atributo_site.core.models.names import distinct_values, first, holding, newest
from atributo_site.web.pagination import whole

MOST_COLLECTIONS = 50


def instances(asked: Asked) -> Iterator[Hit]:
    """Find instances by their first letters, and by any part among the first of them."""
    known = Instance.objects.all()
    looks = [
        known.starting_with(asked.text).order_by("pk"),
        first(known).filter(holding(asked.words, "id")),
    ]
    for rows in looks:
        for pk in rows.values_list("pk", flat=True)[:MOST_OF_A_KIND]:
            yield Hit("Instances", pk, reverse("atributo:instance", args=[pk]))


def keys(asked: Asked) -> Iterator[Hit]:
    """Find allocated keys by their first letters, and by any part among the newest."""
    known = Allocation.objects.all()
    looks = [
        known.starting_with(asked.text).order_by("pk"),
        newest(known, by="epoch").filter(holding(asked.words, "job_id")),
    ]
    for rows in looks:
        for pk, place in rows.values_list("pk", "instance_id")[:MOST_OF_A_KIND]:
            yield Hit("Keys", pk, reverse("atributo:allocation", args=[pk]), f"on {place}")


def transactions(asked: Asked) -> Iterator[Hit]:
    """Find a transaction by its number, and the newest by parts of label, owner and reason."""
    number = whole(asked.text)
    rows = list(Transaction.objects.filter(pk=number or 0))
    said = holding(asked.words, "label", "owner", "reason", "error")
    rows += newest(Transaction.objects.all()).filter(said)[:MOST_OF_A_KIND]
    for row in rows:
        words = [row.status, row.label or row.owner]
        yield Hit(
            "Transactions", str(row.pk), row.get_absolute_url(), ", ".join(filter(None, words))
        )


def documents(asked: Asked) -> Iterator[Hit]:
    """Find collections by parts, documents by their first letters, and the newest by parts."""
    names = distinct_values(Document, "collection", MOST_COLLECTIONS)
    for name in names:
        if all(word in name.lower() for word in asked.words):
            yield Hit("Collections", name, reverse("atributo:collection", args=[name]))
    collection, slash, key = asked.text.partition("/")
    wanted = {collection: key} if slash and key else dict.fromkeys(names, asked.text)
    found = list(starting_with(wanted))
    both = Concat(F("collection"), Value("/"), F("key"))
    parts = newest(Document.objects.all()).filter(present=True).annotate(both=both)
    found += parts.filter(holding(asked.words, "both")).values_list("collection", "key")[
        :MOST_OF_A_KIND
    ]
    for place in found:
        yield Hit("Documents", "/".join(place), reverse("atributo:document", args=place))
