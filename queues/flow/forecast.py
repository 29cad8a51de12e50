"""When the backlog of a queue ends, as its limits are or as they might be."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Value
from django.db.models.functions import Coalesce

from atributo_site.core.models import Lease
from queues.flow.flows import limited_scripts
from queues.logic.flow.admission import Place
from queues.logic.flow.limits import Limit, parsed
from queues.logic.flow.what_if import Pile, end_of
from queues.logic.lifecycle import Outcome, Status
from queues.models import Queue, QueuedJob, Run

MOST_JOBS = 100_000  # that are counted
MOST_RUNS = 50  # of a script, whose mean is what a job takes
LONGEST = timedelta(days=3650)


def forecast(queue: Queue, now: datetime, limits: Sequence[Limit] | None = None) -> dict[str, Any]:
    """Tell when what is due now has ended; `limits` stand for those of the queue."""
    groups, is_cut = _groups(queue)
    seconds = {name: _seconds(*name) for name in {(each[1], each[2]) for each in groups}}
    unknown = sorted(f"{mount}/{script}" for (mount, script), each in seconds.items() if not each)
    piles = [
        Pile(Place(str(queue.pk), key, f"{mount}/{script}", at), jobs, seconds[mount, script] or 0)
        for key, mount, script, at, jobs in groups
    ]
    limited = limited_scripts().items()
    of_scripts = {f"{mount}/{name}": parsed(each) for (mount, name), each in limited}
    of_queue = parsed(queue.limits) if limits is None else limits
    end = end_of(piles, queue.max_workers, of_queue, of_scripts, _hosts())
    ends_at = now + min(timedelta(seconds=end.seconds), LONGEST)
    return {
        "jobs": sum(pile.jobs for pile in piles),
        "is_cut": is_cut,
        "ends_at": ends_at if piles and not unknown else None,
        "held_by": "" if unknown else end.held_by,
        "unknown": unknown,
    }


def said(end: dict[str, Any]) -> str:
    """Return a forecast as a sentence."""
    if not end["jobs"]:
        return "No job is due."
    if end["unknown"]:
        return f"No estimate: {', '.join(end['unknown'])} has not run yet."
    jobs = f"{'more than ' if end['is_cut'] else ''}{end['jobs']:,}"
    moment = f"{end['ends_at']:%Y-%m-%d %H:%M:%S} UTC"
    return f"The backlog of {jobs} due jobs ends about {moment}, held by: {end['held_by']}."


def _groups(queue: Queue) -> tuple[list[tuple[str, str, str, str, int]], bool]:
    """Count due jobs by key, script and instance, as far as that is quick."""
    due = QueuedJob.objects.due().awake().filter(queue=queue, parent=None).order_by()
    some = due.values("pk")[:MOST_JOBS]
    named = (
        QueuedJob.objects.filter(pk__in=some)
        .order_by()
        .annotate(key=Coalesce("flow_key", Value("")), at=Coalesce("routed_to", Value("")))
    )
    rows = list(named.values_list("key", "mount", "script", "at").annotate(jobs=Count("pk")))
    return rows, sum(row[-1] for row in rows) == MOST_JOBS


def _seconds(mount: str, script: str) -> float | None:
    """Return how long the last runs of a script took, on average."""
    jobs = QueuedJob.objects.of_script(mount, script).filter(status=Status.COMPLETE)
    newest = list(jobs.order_by("-pk").values_list("pk", flat=True)[:MOST_RUNS])
    runs = Run.objects.filter(job__in=newest, outcome=Outcome.COMPLETE)
    spans = [
        (ended - started).total_seconds()
        for started, ended in runs.values_list("started_at", "ended_at")
        if ended is not None
    ]
    return max(0.001, sum(spans) / len(spans)) if spans else None


def _hosts() -> int:
    """Return how many hosts have a worker that serves no instance."""
    workers = Lease.objects.held().filter(role__startswith="worker/")
    rows = workers.values_list("holder", "facts")
    return max(1, len({name.split(":")[0] for name, facts in rows if not facts.get("instance")}))
