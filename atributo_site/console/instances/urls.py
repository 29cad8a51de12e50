"""The addresses of the instances screens."""

from django.urls import path

import atributo_site.rest.ids  # noqa: F401  registers <id:...>
from atributo_site.console.instances import views

urlpatterns = [
    path("instances/", views.Instances.as_view(), name="instances"),
    path("instances/<id:instance_id>/", views.OneInstance.as_view(), name="instance"),
    path(
        "instances/<id:instance_id>/remove",
        views.RemoveInstance.as_view(),
        name="instance-remove",
    ),
    path(
        "instances/<id:instance_id>/<slug:verb>",
        views.ChangeInstance.as_view(),
        name="instance-change",
    ),
]
