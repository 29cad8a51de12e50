"""Map the addresses of the docs."""

from django.urls import path

from atributo_site.console.docs import detail

urlpatterns = [
    path("docs/", detail.Docs.as_view(), name="docs"),
    path("docs/images/<str:name>", detail.Picture.as_view(), name="docs-picture"),
    path("docs/<path:page>/", detail.Docs.as_view(), name="docs-page"),
]
