"""Decode a job id into its parts."""

from django.http import HttpRequest, HttpResponse

from allocation.job_ids import ids
from atributo_site.console.base.screen import Screen
from atributo_site.console.system.health import system_tabs
from atributo_site.core.errors import AtributoError
from atributo_site.core.models.clock import database_now


class DecodeId(Screen):
    actions = {"GET": "job_id.view"}
    template_name = "console/allocations/job_ids.html"
    title = "Job id"

    def get(self, request: HttpRequest) -> HttpResponse:
        job_id = request.GET.get("id", "").strip()[:64]
        tabs = system_tabs(request, "job-ids")
        try:
            parsed = ids.parse(job_id) if job_id else None
        except AtributoError as error:
            return self.show(400, job_id=job_id, refusal=str(error), tabs=tabs)
        return self.show(job_id=job_id, parsed=parsed, now=database_now(), tabs=tabs)
