"""Map the addresses of the instances screens."""

from django.urls import path

import atributo_site.rest.ids  # noqa: F401  registers <id:...>
from atributo_site.console.instances import actions, detail, list

urlpatterns = [
    path("instances/", list.Instances.as_view(), name="instances"),
    path("instances/<id:instance_id>/", detail.OneInstance.as_view(), name="instance"),
    path(
        "instances/<id:instance_id>/remove",
        actions.RemoveInstance.as_view(),
        name="instance-remove",
    ),
    path(
        "instances/<id:instance_id>/<slug:verb>",
        actions.ChangeInstance.as_view(),
        name="instance-change",
    ),
]
