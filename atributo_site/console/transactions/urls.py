"""Map the addresses of the transactions and documents screens."""

from django.urls import path

import atributo_site.rest.ids  # noqa: F401  registers <id:...>
from atributo_site.console.transactions import actions, curators, detail, documents, list, locks

TRANSACTION, COLLECTION = "transactions/<int:pk>/", "documents/<id:collection>/"

urlpatterns = [
    path("transactions/", list.Open.as_view(), name="transactions"),
    path("transactions/stuck/", list.Stuck.as_view(), name="transactions-stuck"),
    path("transactions/history/", list.History.as_view(), name="transactions-history"),
    path("transactions/locks/", locks.Locks.as_view(), name="transactions-locks"),
    path("transactions/locks/<int:pk>/release", actions.Release.as_view(), name="lock-release"),
    path("transactions/curators/", curators.Curators.as_view(), name="transactions-curators"),
    path("transactions/curators/hand_over", actions.HandOver.as_view(), name="curators-hand-over"),
    path(TRANSACTION, detail.TransactionDetail.as_view(), name="transaction"),
    path(f"{TRANSACTION}roll_back", actions.RollBack.as_view(), name="transaction-roll-back"),
    path(f"{TRANSACTION}complete", actions.Complete.as_view(), name="transaction-complete"),
    path(f"{TRANSACTION}retry", actions.Retry.as_view(), name="transaction-retry"),
    path("documents/", documents.Collections.as_view(), name="documents"),
    path(COLLECTION, documents.Keys.as_view(), name="collection"),
    path(f"{COLLECTION}<id:key>/", documents.DocumentDetail.as_view(), name="document"),
]
