"""Failures: failed jobs grouped by their error, each group to be retried as one."""

from django.http import HttpRequest, HttpResponse

from allocation.models.clock import database_now
from atributo_site.console.jobs import Query, tab_counts
from atributo_site.console.screen import Screen
from atributo_site.permissions import may
from queues.failures import LOOKED_AT, groups
from queues.models import QueuedJob


class Failures(Screen):
    actions = {"GET": "job.view"}
    template_name = "console/jobs_failures.html"
    title = "Failures"

    def get(self, request: HttpRequest) -> HttpResponse:
        now = database_now()
        found = groups()
        oldest = QueuedJob.objects.in_bulk([group["oldest"] for group in found])
        for group in found:
            group["first"] = oldest.get(group["oldest"])
        return self.show(
            now=now,
            query=Query({}, now),
            tabs=[{**tab, "current": False} for tab in tab_counts(Query({}, now))],
            groups=found,
            looked_at=LOOKED_AT,
            may_operate=may(request.user, "job.operate"),
        )
