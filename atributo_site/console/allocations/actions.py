"""Allocate a key, or end its allocation, from its page."""

from django.http import Http404
from django.urls import reverse

from allocation.atributo import Atributo
from allocation.placement import operations
from atributo_site.console.allocations.forms import asked_labels
from atributo_site.console.base.actions import Action
from atributo_site.core.errors import AtributoError


class ChangeAllocation(Action):
    actions = {"POST": "allocation.operate"}
    refusals = (AtributoError,)

    def load(self, job_id: str, verb: str) -> None:
        if verb not in ("allocate", "deallocate"):
            raise Http404
        self.job_id, self.verb = job_id, verb

    def act(self) -> str:
        if self.verb == "deallocate":
            operations.deallocate(self.job_id)
            return "The key is deallocated."
        operations.allocate(self.job_id, asked_labels(self.request.POST.get("labels", "")))
        return f"It is on {Atributo().instance(self.job_id)}."

    def back(self) -> str:
        return reverse("atributo:allocation", args=[self.job_id])
