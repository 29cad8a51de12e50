from django.urls import path

import atributo_site.rest.ids  # noqa: F401  registers <id:…>
from pools import api

ONE = "pools/<id:name>"

urlpatterns = [
    path("pools", api.Pools.as_view(), name="api-pools"),
    path(ONE, api.OnePool.as_view(), name="api-pool"),
    path(f"{ONE}/backends", api.Backends.as_view(), name="api-pool-backends"),
    path(f"{ONE}/backends/<id:key>", api.OneBackend.as_view(), name="api-pool-backend"),
    path(f"{ONE}/changes", api.Changes.as_view(), name="api-pool-changes"),
    path(f"{ONE}/pause", api.PauseName.as_view(), name="api-pool-pause"),
    path(f"{ONE}/resume", api.ResumeName.as_view(), name="api-pool-resume"),
    path(f"{ONE}/resolve", api.ResolveNow.as_view(), name="api-pool-resolve"),
    path("resolve", api.Resolve.as_view(), name="api-resolve"),
    path("kang/snapshot", api.Kang.as_view(), name="api-kang"),
]
