"""The REST addresses of instances, allocations and job ids."""

from django.urls import path

import atributo_site.rest.ids  # noqa: F401  registers <id:…>
from allocation.api import allocations, instances, job_ids

ONE = "instances/<id:instance_id>"

urlpatterns = [
    path("instances", instances.Instances.as_view(), name="api-instances"),
    path(ONE, instances.OneInstance.as_view(), name="api-instance"),
    path(f"{ONE}/available", instances.MakeAvailable.as_view(), name="api-instance-available"),
    path(
        f"{ONE}/unavailable", instances.MakeUnavailable.as_view(), name="api-instance-unavailable"
    ),
    path(f"{ONE}/drain", instances.DrainInstance.as_view(), name="api-instance-drain"),
    path(f"{ONE}/restore", instances.Restore.as_view(), name="api-instance-restore"),
    path(f"{ONE}/heartbeat", instances.Heartbeat.as_view(), name="api-instance-heartbeat"),
    path(f"{ONE}/removal", instances.Removal.as_view(), name="api-instance-removal"),
    path(f"{ONE}/jobs", instances.Jobs.as_view(), name="api-instance-jobs"),
    path("allocations", allocations.Allocations.as_view(), name="api-allocations"),
    path(
        "allocations/batch",
        allocations.Batch.as_view(),
        {"job_id": "batch"},
        name="api-allocations-batch",
    ),
    path(
        "allocations/plan",
        allocations.PlanMoves.as_view(),
        {"job_id": "plan"},
        name="api-allocations-plan",
    ),
    path("allocations/<id:job_id>", allocations.OneAllocation.as_view(), name="api-allocation"),
    path(
        "allocations/<id:job_id>/explanation",
        allocations.Explanation.as_view(),
        name="api-allocation-explanation",
    ),
    path("job-ids", job_ids.MakeIds.as_view(), name="api-job-ids"),
    path("job-ids/<id:job_id>", job_ids.DecodeId.as_view(), name="api-job-id"),
]
