"""Show one batch: its progress, its callbacks and its jobs."""

from django.db.models import F
from django.http import HttpRequest, HttpResponse

from atributo_site.console.base.screen import Screen
from atributo_site.console.base.terminal import curl
from atributo_site.console.jobs.state import with_states
from atributo_site.core.models import Event
from atributo_site.core.models.clock import database_now
from atributo_site.permissions import may
from queues.api.batches import batch_or_404
from queues.models import QueuedJob
from queues.queries.batches import STATES, batch_dict

SHOWN = 50
FEW = 1000
FIRST = {
    "failed": ("failed", "aborted", "expired"),
    "progress": ("running",),
    "pending": ("waiting", "blocked"),
    "complete": ("complete",),
}


class OneBatch(Screen):
    actions = {"GET": "job.view"}
    template_name = "console/batches/detail.html"
    is_shared = True

    def get(self, request: HttpRequest, batch_id: str) -> HttpResponse:
        batch, now = batch_or_404(batch_id), database_now()
        facts = batch_dict(batch)
        self.title = f"Batch {batch}"
        events = Event.objects.newest_first().filter(subject=f"batch:{batch.pk}")
        return self.show(
            now=now,
            batch=batch,
            facts=facts,
            counts=[(state, facts["jobs"][state]) for state in STATES if facts["jobs"][state]],
            jobs=with_states(first_jobs(batch.pk, facts["jobs"]), now),
            shown=SHOWN,
            has_failed=facts["jobs"]["failed"]
            + facts["jobs"]["aborted"]
            + facts["jobs"]["expired"],
            has_open=any(facts["jobs"][state] for state in ("waiting", "blocked", "running")),
            events=list(events[:10]),
            may_operate=may(request.user, "job.operate"),
            may_push=may(request.user, "job.push"),
            command=f"manage.py batches show {batch.pk}",
            rest=curl(f"/api/v1/batches/{batch.pk}"),
        )


def first_jobs(batch_id: int, counts: dict[str, int]) -> list[QueuedJob]:
    """Return what people look for first: failed jobs, then what runs, waits and is done.

    Few of many are sorted: in the order of ids, PostgreSQL may look through all jobs for them.
    """
    jobs: list[QueuedJob] = []
    for status, states in FIRST.items():
        count, room = sum(counts[state] for state in states), SHOWN - len(jobs)
        if count and room:
            rows = QueuedJob.objects.filter(batch=batch_id, status=status).select_related("queue")
            by_id = F("pk") + 0 if count <= FEW else "pk"
            jobs += rows.defer("data", "result").order_by(by_id)[:room]
    return jobs
