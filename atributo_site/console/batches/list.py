"""List batches, the newest first, with how far each is."""

from typing import Any

from django.http import HttpRequest, HttpResponse

from atributo_site.console.base.screen import Screen
from atributo_site.console.base.terminal import same_list
from atributo_site.core.models.clock import database_now
from atributo_site.web.pagination import page_by_key
from queues.models import Batch
from queues.queries.batches import batch_dict

PAGE = 50


class Batches(Screen):
    actions = {"GET": "job.view"}
    template_name = "console/batches/list.html"
    is_shared = True
    title = "Batches"

    def get(self, request: HttpRequest) -> HttpResponse:
        state = request.GET.get("state", "")
        rows: Any = Batch.objects.select_related("queue")
        if state in Batch.State.values:
            rows = rows.filter(state=state)
        page = page_by_key(rows, **self.page_keys, size=PAGE)
        known = state if state in Batch.State.values else ""
        return self.show(
            now=database_now(),
            page=page,
            batches=[batch_dict(each) for each in page.rows],
            state=state,
            states=Batch.State.values,
            same=same_list(
                "/api/v1/batches", {"state": known}, "manage.py batches list", {"--state": known}
            ),
        )
