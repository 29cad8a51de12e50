"""Which jobs belong into a process that runs many, by the scripts that are installed."""

import json
from functools import lru_cache

from queues.models import Script
from queues.runs.reservation import Reserved
from queues.shared.holding import Belonging


@lru_cache(maxsize=1)
def shared_scripts(revision: int) -> dict[tuple[str, str], int]:
    """Return the scripts of which one process runs many jobs, and how many.

    A script with limits is not among them: its jobs are counted one by one, also those that were
    pushed before it had limits.
    """
    rows = Script.objects.filter(threads__gt=1, limits__isnull=True)
    named = rows.values_list("service__mount", "name", "threads")
    return {(mount, name): threads for mount, name, threads in named}


def threads_of(job: Reserved, revision: int) -> int:
    """Return how many such jobs one process runs; 1 for a job that has to run alone."""
    if job.suspect or job.sticky_key is not None or job.flow_id is not None or not job.mount:
        return 1
    return shared_scripts(revision).get((job.mount, job.script), 1)


@lru_cache(maxsize=16)
def belonging(mount: str, revision: int) -> Belonging:
    """Return which jobs may begin in a process for many jobs of this service."""
    names = sorted(name for where, name in shared_scripts(revision) if where == mount)
    return Belonging(mount, json.dumps(names), revision)
