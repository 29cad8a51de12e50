"""Map the addresses of the pools screens."""

from django.urls import path

import atributo_site.rest.ids  # noqa: F401  registers <id:...>
from atributo_site.console.pools import actions, detail, list, lookup, timeline

ONE_POOL = "pools/watched/<id:name>"

urlpatterns = [
    path("pools/", list.Names.as_view(), name="pools"),
    path("pools/new/", actions.NewName.as_view(), name="pool-new"),
    path("pools/backends/", list.Backends.as_view(), name="pools-backends"),
    path("pools/timeline/", timeline.Timeline.as_view(), name="pools-timeline"),
    path("pools/live/", list.Live.as_view(), name="pools-live"),
    path("pools/look-up/", lookup.LookUp.as_view(), name="pools-look-up"),
    path("pools/look-up/follow/", lookup.Follow.as_view(), name="pools-follow"),
    path(f"{ONE_POOL}/", detail.OneName.as_view(), name="pool"),
    path(f"{ONE_POOL}/change/", actions.ChangeName.as_view(), name="pool-change"),
    path(f"{ONE_POOL}/pause", actions.Pause.as_view(), name="pool-pause"),
    path(f"{ONE_POOL}/resolve", actions.LookUpNow.as_view(), name="pool-resolve"),
    path(f"{ONE_POOL}/forget", actions.Forget.as_view(), name="pool-forget"),
    path(f"{ONE_POOL}/backends/<id:key>", actions.Administer.as_view(), name="pool-administer"),
]
