"""Map the addresses of the allocations screens."""

from django.urls import path

import atributo_site.rest.ids  # noqa: F401  registers <id:...>
from atributo_site.console.allocations import actions, detail, job_ids, list, map, rebalance

JOB_ID = "allocations/<id:job_id>/"

urlpatterns = [
    path("allocations/", list.Allocations.as_view(), name="allocations"),
    path("allocations/-/rebalance/", rebalance.Rebalance.as_view(), name="rebalance"),
    path("allocations/-/map/", map.Map.as_view(), name="allocations-map"),
    path(JOB_ID, detail.OneAllocation.as_view(), name="allocation"),
    path(f"{JOB_ID}<slug:verb>", actions.ChangeAllocation.as_view(), name="allocation-change"),
    path("job-ids/", job_ids.DecodeId.as_view(), name="job-ids"),
]
