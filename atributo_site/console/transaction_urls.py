"""The screens of documents and transactions."""

from django.urls import path

from atributo_site.console import (
    curators,
    document,
    documents,
    endings,
    locks,
    releases,
    transaction,
    transactions,
)
from atributo_site.rest import ids  # noqa: F401 - registers the converter

urlpatterns = [
    path("transactions/", transactions.Open.as_view(), name="transactions"),
    path("transactions/stuck/", transactions.Stuck.as_view(), name="transactions-stuck"),
    path("transactions/history/", transactions.History.as_view(), name="transactions-history"),
    path("transactions/locks/", locks.Locks.as_view(), name="transactions-locks"),
    path("transactions/locks/<int:pk>/release", releases.Release.as_view(), name="lock-release"),
    path("transactions/curators/", curators.Curators.as_view(), name="transactions-curators"),
    path("transactions/curators/hand_over", releases.HandOver.as_view(), name="curators-hand-over"),
    path("transactions/<int:pk>/", transaction.Transaction.as_view(), name="transaction"),
    path(
        "transactions/<int:pk>/roll_back",
        endings.RollBack.as_view(),
        name="transaction-roll-back",
    ),
    path("transactions/<int:pk>/complete", endings.Complete.as_view(), name="transaction-complete"),
    path("transactions/<int:pk>/retry", endings.Retry.as_view(), name="transaction-retry"),
    path("documents/", documents.Collections.as_view(), name="documents"),
    path("documents/<id:collection>/", documents.Keys.as_view(), name="collection"),
    path("documents/<id:collection>/<id:key>/", document.Document.as_view(), name="document"),
]
