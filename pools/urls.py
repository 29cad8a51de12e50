"""The REST addresses of watched names, backends and the look-up tool."""

from django.urls import path

import atributo_site.rest.ids  # noqa: F401  registers <id:…>
from pools.api import views

ONE = "pools/<id:name>"

urlpatterns = [
    path("pools", views.Pools.as_view(), name="api-pools"),
    path(ONE, views.OnePool.as_view(), name="api-pool"),
    path(f"{ONE}/backends", views.Backends.as_view(), name="api-pool-backends"),
    path(f"{ONE}/backends/<id:key>", views.OneBackend.as_view(), name="api-pool-backend"),
    path(f"{ONE}/changes", views.Changes.as_view(), name="api-pool-changes"),
    path(f"{ONE}/pause", views.PauseName.as_view(), name="api-pool-pause"),
    path(f"{ONE}/resume", views.ResumeName.as_view(), name="api-pool-resume"),
    path(f"{ONE}/resolve", views.ResolveNow.as_view(), name="api-pool-resolve"),
    path("resolve", views.Resolve.as_view(), name="api-resolve"),
    path("kang/snapshot", views.Kang.as_view(), name="api-kang"),
]
