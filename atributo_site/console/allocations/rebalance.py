"""Show what would move if all keys were placed today; start, watch and stop a rebalance."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from allocation.placement import plans, rebalance
from allocation.placement.plans import Plan
from atributo_site.console.allocations.forms import PaceForm
from atributo_site.console.base.actions import Action
from atributo_site.console.base.forms import BadForm, checked, form_errors
from atributo_site.console.base.terminal import curl
from atributo_site.core.errors import AtributoError
from atributo_site.core.models.clock import database_now
from atributo_site.core.retry import retry_busy
from atributo_site.permissions import may
from atributo_site.web.format import roughly

PREVIEWED = 500
MINUTE = 60
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

    def post(self, request: HttpRequest, **names: Any) -> HttpResponse:
        """Ask before anything moves; the answer to the question sends "sure"."""
        if "stop" in request.POST or "sure" in request.POST:
            return self.perform()
        form = PaceForm(request.POST)
        if not form.is_valid():
            return self.refuse(BadForm(form_errors(form)))
        plan, pace = plans.plan_rebalance(most=PREVIEWED), form.cleaned_data["moves_per_minute"]
        self.template_name = "console/allocations/rebalance_question.html"
        return self.show(plan=plan, pace=pace, takes=_takes(plan, pace), back=self.back())

    def act(self) -> str:
        if "stop" in self.request.POST:
            retry_busy(rebalance.stop)
            return "The rebalance is stopped. Keys that moved stay where they are."
        form = checked(PaceForm(self.request.POST))
        retry_busy(lambda: rebalance.start(**form.cleaned_data))
        return "The curator moves keys at this pace until it is done or you stop it."

    def back(self) -> str:
        return reverse("atributo:rebalance")


def _takes(plan: Plan, pace: int) -> str:
    """Say how long the planned moves take, as far as they were looked at."""
    least = "at least " if plan.looked_at < plan.jobs else "about "
    return f"{least}{roughly(len(plan.moves) * MINUTE / pace)}"
