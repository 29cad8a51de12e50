"""Map the addresses of the screens of batches."""

from django.urls import path

import atributo_site.rest.ids  # noqa: F401  registers <id:...>
from atributo_site.console.batches import actions, detail, list

BATCH = "batches/<id:batch_id>/"

urlpatterns = [
    path("batches/", list.Batches.as_view(), name="batches"),
    path(BATCH, detail.OneBatch.as_view(), name="batch"),
    path(f"{BATCH}close", actions.Close.as_view(), name="batch-close"),
    path(f"{BATCH}retry", actions.Retry.as_view(), name="batch-retry"),
    path(f"{BATCH}abort", actions.Abort.as_view(), name="batch-abort"),
]
