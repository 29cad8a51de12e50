"""Show what would move if all keys were placed today; start, watch and stop a rebalance."""

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from allocation.placement import plans, rebalance
from atributo_site.console.allocations.forms import PaceForm
from atributo_site.console.base.actions import Action
from atributo_site.console.base.forms import checked
from atributo_site.console.base.terminal import curl
from atributo_site.core.errors import AtributoError
from atributo_site.core.models.clock import database_now
from atributo_site.core.retry import retry_busy
from atributo_site.permissions import may

PREVIEWED = 500
START = {"rebalance": True, "moves_per_minute": 60}


class Rebalance(Action):
    actions = {"GET": "allocation.view", "POST": "allocation.operate"}
    refusals = (AtributoError,)
    template_name = "console/allocations/rebalance.html"
    is_shared = True
    title = "Rebalance"

    def get(self, request: HttpRequest) -> HttpResponse:
        last = rebalance.last()
        return self.show(
            last=last,
            percent=round(100 * last.progress.fraction) if last else 0,
            plan=None if last and last.is_running else plans.plan_rebalance(most=PREVIEWED),
            rest=curl("/api/v1/allocations/plan", "POST", START),
            now=database_now(),
            may_operate=may(request.user, "allocation.operate"),
        )

    def act(self) -> str:
        if "stop" in self.request.POST:
            retry_busy(rebalance.stop)
            return "The rebalance is stopped. Keys that moved stay where they are."
        form = checked(PaceForm(self.request.POST))
        retry_busy(lambda: rebalance.start(**form.cleaned_data))
        return "The curator moves keys at this pace until it is done or you stop it."

    def back(self) -> str:
        return reverse("atributo:rebalance")
