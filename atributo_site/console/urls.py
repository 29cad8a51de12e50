"""Map the addresses of all screens; each section has its own file."""

from django.urls import include, path

from atributo_site.console import overview
from atributo_site.console.base import saved_views, theme
from atributo_site.console.search import screen as search

urlpatterns = [
    path("", overview.Overview.as_view(), name="overview"),
    path("search/", search.Search.as_view(), name="search"),
    path("views", saved_views.SaveView.as_view(), name="view-save"),
    path("views/<int:pk>/remove", saved_views.RemoveView.as_view(), name="view-remove"),
    path("theme", theme.choose_look, name="theme"),
    path("", include("atributo_site.console.incidents.urls")),
    path("", include("atributo_site.console.events.urls")),
    path("", include("atributo_site.console.instances.urls")),
    path("", include("atributo_site.console.allocations.urls")),
    path("", include("atributo_site.console.queues.urls")),
    path("", include("atributo_site.console.jobs.urls")),
    path("", include("atributo_site.console.batches.urls")),
    path("", include("atributo_site.console.schedules.urls")),
    path("", include("atributo_site.console.services.urls")),
    path("", include("atributo_site.console.transactions.urls")),
    path("", include("atributo_site.console.pools.urls")),
    path("", include("atributo_site.console.system.urls")),
    path("", include("atributo_site.console.docs.urls")),
]
