"""The REST addresses of documents, transactions, locks and curators."""

from django.urls import path

from allocation.transactions.api import documents, locks, transactions
from atributo_site.rest import ids  # noqa: F401 - registers the converter

urlpatterns = [
    path("collections/<id:collection>", documents.Collection.as_view(), name="api-collection"),
    path("collections/<id:collection>/<id:key>", documents.Document.as_view(), name="api-document"),
    path("collections/<id:collection>/<id:key>/refs", documents.Refs.as_view(), name="api-refs"),
    path("transactions", transactions.Transactions.as_view(), name="api-transactions"),
    path("transactions/<int:pk>", transactions.One.as_view(), name="api-transaction"),
    path(
        "transactions/<int:pk>/operations",
        transactions.Operations.as_view(),
        name="api-transaction-operations",
    ),
    path(
        "transactions/<int:pk>/complete",
        transactions.Complete.as_view(),
        name="api-transaction-complete",
    ),
    path(
        "transactions/<int:pk>/roll_back",
        transactions.RollBack.as_view(),
        name="api-transaction-roll-back",
    ),
    path("transactions/<int:pk>/renew", transactions.Renew.as_view(), name="api-transaction-renew"),
    path("transactions/<int:pk>/retry", transactions.Retry.as_view(), name="api-transaction-retry"),
    path("locks", locks.Locks.as_view(), name="api-locks"),
    path("locks/<int:pk>/release", locks.Release.as_view(), name="api-lock-release"),
    path("curators", locks.Curators.as_view(), name="api-curators"),
    path("curators/hand_over", locks.HandOver.as_view(), name="api-curators-hand-over"),
]
