"""What the rows say once the storm is over: one line for each promise that was broken."""

from collections import Counter

from atributo_site.core.models import Event
from queues.maintenance.invariants import INVARIANTS
from queues.maintenance.recovery import LOST
from queues.models import QueuedJob, Run


def broken_promises(pushed):
    rows = dict(QueuedJob.objects.values_list("pk", "status"))
    broken = [f"lost: {job}" for job in set(pushed) - set(rows)]
    broken += [f"unfinished: {pk} {status}" for pk, status in rows.items() if status in UNDONE]
    ended = Run.objects.filter(outcome="complete").values_list("job_id", flat=True)
    broken += [f"recorded twice: {job}" for job, n in Counter(ended).items() if n > 1]
    odd = QueuedJob.objects.filter(status="complete").exclude(runs=1)
    broken += [f"counted {job.runs} runs: {job.pk}" for job in odd]
    failed = QueuedJob.objects.filter(status="failed").exclude(error__startswith=LOST)
    broken += [f"failed: {job.pk} {job.error}" for job in failed]
    return broken + [f"{name}: {each}" for name, _, find in INVARIANTS for each in find()]


def told():
    """The figures of the story."""
    outcomes = Counter(Run.objects.values_list("outcome", flat=True))
    refused = Event.objects.filter(kind="run.refused").values_list("facts", flat=True)
    return {
        "jobs": QueuedJob.objects.count(),
        "complete": QueuedJob.objects.filter(status="complete").count(),
        "lost three times": QueuedJob.objects.filter(status="failed").count(),
        "attempts": sum(outcomes.values()),
        "attempts lost": outcomes["lost"],
        "attempts failed": outcomes["failed"],
        "results refused": sum(facts["results"] for facts in refused),
    }


UNDONE = {"pending", "progress"}
