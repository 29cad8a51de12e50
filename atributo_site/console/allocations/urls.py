"""The addresses of the allocations screens."""

from django.urls import path

import atributo_site.rest.ids  # noqa: F401  registers <id:...>
from atributo_site.console.allocations import map, rebalance, views

urlpatterns = [
    path("allocations/", views.Allocations.as_view(), name="allocations"),
    path("allocations/-/rebalance/", rebalance.Rebalance.as_view(), name="rebalance"),
    path("allocations/-/map/", map.Map.as_view(), name="allocations-map"),
    path("allocations/<id:job_id>/", views.OneAllocation.as_view(), name="allocation"),
    path(
        "allocations/<id:job_id>/<slug:verb>",
        views.ChangeAllocation.as_view(),
        name="allocation-change",
    ),
    path("job-ids/", views.DecodeId.as_view(), name="job-ids"),
]
