"""Allocate a job id, or end its allocation, from its page."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect

from allocation.atributo import Atributo
from allocation.placement import operations
from atributo_site.console.base.screen import Screen
from atributo_site.core.errors import AtributoError


class ChangeAllocation(Screen):
    actions = {"POST": "allocation.operate"}

    def post(self, request: HttpRequest, job_id: str, verb: str) -> HttpResponse:
        if verb not in ("allocate", "deallocate"):
            raise Http404
        try:
            if verb == "deallocate":
                operations.deallocate(job_id)
                messages.success(request, "It is allocated no longer.")
            else:
                operations.allocate(job_id)
                messages.success(request, f"It is on {Atributo().instance(job_id)}.")
        except AtributoError as error:
            messages.error(request, str(error))
        return redirect("allocation", job_id)
