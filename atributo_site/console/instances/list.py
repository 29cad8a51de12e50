"""List instances with state and load, and make a new one available."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from allocation.instances import availability
from allocation.models import Instance, Roster
from allocation.models.instance import STATES
from allocation.snapshot import described
from atributo_site.console.base.saved_views import views_of
from atributo_site.console.base.screen import Screen
from atributo_site.console.base.terminal import same_list
from atributo_site.console.instances.detail import with_percent
from atributo_site.core.ids import valid_id
from atributo_site.core.models.clock import database_now
from atributo_site.core.retry import retry_busy
from atributo_site.permissions import may
from atributo_site.web.pagination import page_by_key

PAGE = 50


class Instances(Screen):
    actions = {"GET": "instance.view", "POST": "instance.operate"}
    template_name = "console/instances/list.html"
    is_shared = True
    title = "Instances"

    def get(self, request: HttpRequest) -> HttpResponse:
        prefix, state = request.GET.get("prefix", "")[:255], request.GET.get("state", "")
        chosen = Instance.objects.in_state(state) if state in STATES else Instance.objects.all()
        rows = chosen.starting_with(prefix).select_related("drain")
        page = page_by_key(rows.with_load(), **self.page_keys, size=PAGE, descending=False)
        now = database_now()
        return self.show(
            page=page,
            instances=[with_percent(facts) for facts in described(page.rows, now)],
            totals=Roster.objects.first(),
            prefix=prefix,
            state=state,
            states=list(STATES),
            same=_same(prefix, state),
            now=now,
            views=views_of(request, "instances"),
            may_operate=may(request.user, "instance.operate"),
        )

    def post(self, request: HttpRequest) -> HttpResponse:
        """Make a new instance available."""
        instance_id = valid_id(request.POST.get("id", ""))
        retry_busy(lambda: availability.make_available(instance_id))
        messages.success(request, f"{instance_id} is available.")
        return redirect("atributo:instance", instance_id)


def _same(prefix: str, state: str) -> dict[str, str]:
    state = state if state in STATES else ""  # any other word filters nothing
    flags = {"--prefix": prefix, "--state": state}
    asked = {"prefix": prefix, "state": state}
    return same_list("/api/v1/instances", asked, "manage.py instances list", flags)
