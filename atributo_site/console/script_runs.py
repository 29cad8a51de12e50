"""The last runs of a script: jobs that were pushed, and what people ran at once."""

from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter

from allocation.models import Event
from atributo_site.console.job_state import job_state
from atributo_site.keyset import newest_by_key
from queues.models import QueuedJob, Script

LAST_RUNS = 10
LOOKED_AT = 100  # of the runs of all scripts of the service
AT_ONCE = {"script.ran": "complete", "script.dry_ran": "complete", "script.failed": "failed"}


@dataclass(frozen=True)
class LastRun:
    """Without a job it was run at once."""

    at: datetime
    state: str
    error: str
    job: QueuedJob | None = None
    by: str = ""
    seconds: float | None = None
    dry_run: bool = False


def last_runs(script: Script, now: datetime) -> list[LastRun]:
    runs = [*_pushed(script, now), *_at_once(script)]
    return sorted(runs, key=attrgetter("at"), reverse=True)[:LAST_RUNS]


def _pushed(script: Script, now: datetime) -> list[LastRun]:
    jobs = QueuedJob.objects.visible().of_script(script.service.mount, script.name)
    newest = newest_by_key(jobs.select_related("queue").defer("data", "result"), LAST_RUNS)
    return [LastRun(job.created_at, job_state(job, now), job.error, job) for job in newest]


def _at_once(script: Script) -> list[LastRun]:
    """As far as the browser's runs are among the newest events of the service."""
    events = Event.objects.newest_first().filter(
        subject=f"service:{script.service.mount}", kind__in=AT_ONCE
    )
    return [
        LastRun(
            event.at,
            AT_ONCE[event.kind],
            event.facts.get("error", ""),
            by=event.actor,
            seconds=event.facts.get("seconds"),
            dry_run=event.kind == "script.dry_ran",
        )
        for event in events[:LOOKED_AT]
        if event.facts.get("script") == script.name
    ]
