"""The addresses of the pools screens."""

from django.urls import path

import atributo_site.rest.ids  # noqa: F401  registers <id:...>
from atributo_site.console.pools import backends, lookup, timeline, views

ONE_POOL = "pools/watched/<id:name>"

urlpatterns = [
    path("pools/", views.Names.as_view(), name="pools"),
    path("pools/new/", views.NewName.as_view(), name="pool-new"),
    path("pools/backends/", views.Backends.as_view(), name="pools-backends"),
    path("pools/timeline/", timeline.Timeline.as_view(), name="pools-timeline"),
    path("pools/live/", views.Live.as_view(), name="pools-live"),
    path("pools/look-up/", lookup.LookUp.as_view(), name="pools-look-up"),
    path("pools/look-up/follow/", lookup.Follow.as_view(), name="pools-follow"),
    path(f"{ONE_POOL}/", views.OneName.as_view(), name="pool"),
    path(f"{ONE_POOL}/change/", views.ChangeName.as_view(), name="pool-change"),
    path(f"{ONE_POOL}/pause", views.Pause.as_view(), name="pool-pause"),
    path(f"{ONE_POOL}/resolve", views.AskNow.as_view(), name="pool-resolve"),
    path(f"{ONE_POOL}/forget", views.Forget.as_view(), name="pool-forget"),
    path(f"{ONE_POOL}/backends/<id:key>", backends.Administer.as_view(), name="pool-administer"),
]
