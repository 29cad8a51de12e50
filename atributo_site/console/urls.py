"""The screens at /."""

from django.urls import include, path

import atributo_site.rest.ids  # noqa: F401  registers <id:…>
from atributo_site.console import (
    allocation_map,
    allocations,
    events,
    instances,
    look_up,
    operations,
    overview,
    pools,
    rebalance,
    saved_views,
    search,
    system,
    theme,
    tokens,
)

ONE_POOL = "pools/watched/<id:name>"

urlpatterns = [
    path("", overview.Overview.as_view(), name="overview"),
    path("events/", events.Events.as_view(), name="events"),
    path("events/stream", events.NoStream.as_view(), name="events-stream"),
    path("instances/", instances.Instances.as_view(), name="instances"),
    path("instances/<id:instance_id>/", instances.OneInstance.as_view(), name="instance"),
    path(
        "instances/<id:instance_id>/remove",
        instances.RemoveInstance.as_view(),
        name="instance-remove",
    ),
    path(
        "instances/<id:instance_id>/<slug:verb>",
        instances.ChangeInstance.as_view(),
        name="instance-change",
    ),
    path("allocations/", allocations.Allocations.as_view(), name="allocations"),
    path("allocations/-/rebalance/", rebalance.Rebalance.as_view(), name="rebalance"),
    path("allocations/-/map/", allocation_map.Map.as_view(), name="allocations-map"),
    path("allocations/<id:job_id>/", allocations.OneAllocation.as_view(), name="allocation"),
    path(
        "allocations/<id:job_id>/<slug:verb>",
        allocations.ChangeAllocation.as_view(),
        name="allocation-change",
    ),
    path("job-ids/", allocations.DecodeId.as_view(), name="job-ids"),
    path("search/", search.Search.as_view(), name="search"),
    path("pools/", pools.Names.as_view(), name="pools"),
    path("pools/new/", pools.NewName.as_view(), name="pool-new"),
    path("pools/backends/", pools.Backends.as_view(), name="pools-backends"),
    path("pools/timeline/", pools.Timeline.as_view(), name="pools-timeline"),
    path("pools/live/", pools.Live.as_view(), name="pools-live"),
    path("pools/look-up/", look_up.LookUp.as_view(), name="pools-look-up"),
    path("pools/look-up/follow/", look_up.Follow.as_view(), name="pools-follow"),
    path(f"{ONE_POOL}/", pools.OneName.as_view(), name="pool"),
    path(f"{ONE_POOL}/change/", pools.ChangeName.as_view(), name="pool-change"),
    path(f"{ONE_POOL}/pause", pools.Pause.as_view(), name="pool-pause"),
    path(f"{ONE_POOL}/resolve", pools.AskNow.as_view(), name="pool-resolve"),
    path(f"{ONE_POOL}/forget", pools.Forget.as_view(), name="pool-forget"),
    path(f"{ONE_POOL}/backends/<id:key>", pools.Administer.as_view(), name="pool-administer"),
    path("system/", system.Health.as_view(), name="system"),
    path("system/integrity/", system.Integrity.as_view(), name="system-integrity"),
    path("system/processes/", system.Processes.as_view(), name="system-processes"),
    path("system/operations/", operations.Operations.as_view(), name="system-operations"),
    path("system/operations/<int:pk>/", operations.OneOperation.as_view(), name="operation"),
    path(
        "system/operations/<int:pk>/abort",
        operations.AbortOperation.as_view(),
        name="operation-abort",
    ),
    path("system/settings/", system.Settings.as_view(), name="system-settings"),
    path("system/api/", system.RestApi.as_view(), name="system-api"),
    path("system/tokens/", tokens.Tokens.as_view(), name="system-tokens"),
    path(
        "system/tokens/<int:token_id>/revoke",
        tokens.RevokeToken.as_view(),
        name="system-token-revoke",
    ),
    path("", include("atributo_site.console.transaction_urls")),
    path("", include("atributo_site.console.queue_urls")),
    path("views", saved_views.SaveView.as_view(), name="view-save"),
    path("views/<int:pk>/remove", saved_views.RemoveView.as_view(), name="view-remove"),
    path("theme", theme.choose_theme, name="theme"),
]
