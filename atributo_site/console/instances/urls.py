"""Map the addresses of the instances screens."""

from django.urls import path

import atributo_site.rest.ids  # noqa: F401  registers <id:...>
from atributo_site.console.instances import actions, detail, list, moves

INSTANCE = "instances/<id:instance_id>/"

urlpatterns = [
    path("instances/", list.Instances.as_view(), name="instances"),
    path(INSTANCE, detail.OneInstance.as_view(), name="instance"),
    path(f"{INSTANCE}moves/", moves.Moves.as_view(), name="instance-moves"),
    path(f"{INSTANCE}remove", actions.RemoveInstance.as_view(), name="instance-remove"),
    path(f"{INSTANCE}<slug:verb>", actions.ChangeInstance.as_view(), name="instance-change"),
]
