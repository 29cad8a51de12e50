"""The screens at /."""

from django.urls import path

import atributo_site.rest.ids  # noqa: F401  registers <id:…>
from atributo_site.console import (
    allocations,
    events,
    instances,
    overview,
    search,
    system,
    theme,
    tokens,
)

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
    path("allocations/<id:job_id>/", allocations.OneAllocation.as_view(), name="allocation"),
    path(
        "allocations/<id:job_id>/<slug:verb>",
        allocations.ChangeAllocation.as_view(),
        name="allocation-change",
    ),
    path("job-ids/", allocations.DecodeId.as_view(), name="job-ids"),
    path("search/", search.Search.as_view(), name="search"),
    path("system/", system.Health.as_view(), name="system"),
    path("system/processes/", system.Processes.as_view(), name="system-processes"),
    path("system/settings/", system.Settings.as_view(), name="system-settings"),
    path("system/api/", system.RestApi.as_view(), name="system-api"),
    path("system/tokens/", tokens.Tokens.as_view(), name="system-tokens"),
    path(
        "system/tokens/<int:token_id>/revoke",
        tokens.RevokeToken.as_view(),
        name="system-token-revoke",
    ),
    path("theme", theme.choose_theme, name="theme"),
]
