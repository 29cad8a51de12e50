"""List allocations by key or instance, and allocate a key."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from allocation.models import Allocation
from allocation.placement import operations
from atributo_site.console.allocations.forms import asked_labels
from atributo_site.console.base.saved_views import views_of
from atributo_site.console.base.screen import Screen
from atributo_site.core.errors import AtributoError
from atributo_site.core.ids import refusal, valid_id
from atributo_site.core.models.clock import database_now
from atributo_site.permissions import may
from atributo_site.web.pagination import page_by_key

PAGE = 50


class Allocations(Screen):
    actions = {"GET": "allocation.view", "POST": "allocation.operate"}
    template_name = "console/allocations/list.html"
    is_shared = True
    title = "Allocations"

    def get(self, request: HttpRequest) -> HttpResponse:
        prefix = request.GET.get("prefix", "")[:255]
        instance_id = request.GET.get("instance", "")[:255]
        rows = Allocation.objects.starting_with(prefix)
        if instance_id:
            rows = rows.on(instance_id)
        page = page_by_key(rows, **self.page_keys, size=PAGE, descending=False)
        return self.show(
            page=page,
            prefix=prefix,
            whole_id_url=reverse("atributo:allocation", args=[prefix])
            if refusal(prefix) is None
            else "",
            instance_id=instance_id,
            now=database_now(),
            views=views_of(request, "allocations"),
            may_operate=may(request.user, "allocation.operate"),
        )

    def post(self, request: HttpRequest) -> HttpResponse:
        job_id = valid_id(request.POST.get("job_id", ""))
        try:
            labels = asked_labels(request.POST.get("labels", ""))
            allocated = operations.allocate(job_id, labels)
        except AtributoError as error:
            messages.error(request, str(error))
            return redirect("atributo:allocations")
        where = f"{job_id} is on {allocated.instance_id}"
        messages.success(request, f"{where}, placed now." if allocated.persisted else f"{where}.")
        return redirect("atributo:allocation", job_id)
