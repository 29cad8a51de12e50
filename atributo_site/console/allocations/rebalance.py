"""Rebalance: what would move if jobs were placed today; start it at a pace, watch it, stop it."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from allocation.placement import plans, rebalance
from atributo_site.console.allocations.forms import PaceForm
from atributo_site.console.base.forms import said
from atributo_site.console.base.screen import Screen
from atributo_site.console.base.terminal import curl
from atributo_site.core.errors import AtributoError
from atributo_site.core.models.clock import database_now
from atributo_site.core.retry import retry_busy
from atributo_site.permissions import may

PREVIEWED = 500
START = {"rebalance": True, "moves_per_minute": 60}


class Rebalance(Screen):
    actions = {"GET": "allocation.view", "POST": "allocation.operate"}
    template_name = "console/allocations/rebalance.html"
    title = "Rebalance"

    def get(self, request: HttpRequest) -> HttpResponse:
        found = rebalance.last()
        return self.show(
            found=found,
            percent=round(100 * found.progress.fraction) if found else 0,
            plan=None if found and found.is_running else plans.plan_rebalance(most=PREVIEWED),
            rest=curl("/api/v1/allocations/plan", "POST", START),
            now=database_now(),
            may_operate=may(request.user, "allocation.operate"),
        )

    def post(self, request: HttpRequest) -> HttpResponse:
        try:
            messages.success(request, self._change(request))
        except AtributoError as error:
            messages.error(request, str(error))
        return redirect("rebalance")

    def _change(self, request: HttpRequest) -> str:
        if "stop" in request.POST:
            retry_busy(rebalance.stop)
            return "The rebalance is stopped; what has moved stays."
        form = PaceForm(request.POST)
        if not form.is_valid():
            raise AtributoError(said(form))
        retry_busy(lambda: rebalance.start(**form.cleaned_data))
        return "The curator moves job ids at this pace until you stop it."
