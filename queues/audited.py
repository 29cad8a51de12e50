"""Push jobs and run scripts for REST, screens and commands, with an event each.

A push by a program in the site leaves no event: its job says who pushed it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from atributo_site.core.events import record
from queues.errors import ScriptFailed
from queues.jobs import push as pushing
from queues.runs import outbox
from queues.worker import run_now
from queues.worker.run_now import ScriptResult
from queues.worker.script_runs import record_end

NAMED = 20  # jobs that the event of a batch lists


def push(queue: str, script: Any, data: Any, given: Mapping[str, Any]) -> str:
    """Push a job; a duplicate with the same unique key is no push, and has no event."""

    def tell(ids: list[int]) -> None:
        facts = {"queue": queue, "script": _named(script)}
        holder = outbox.holder()
        if holder is None:
            record("job.pushed", f"job:{ids[0]}", **facts)
        else:  # it may never become a job
            record("push.held", f"job:{ids[0]}", transaction=holder, **facts)

    return pushing.push(queue, script, data, given, tell=tell)


def push_many(queue: str, script: Any, datas: Sequence[Any], given: Mapping[str, Any]) -> list[str]:
    """Push many jobs, with one event for all of them."""

    def tell(ids: list[int]) -> None:
        first, named = [str(job_id) for job_id in ids[:NAMED]], _named(script)
        record("jobs.pushed", f"queue:{queue}", count=len(ids), first=first, script=named)

    return pushing.push_many(queue, script, datas, given, tell=tell)


def run_script(mount: str, name: str, data: Any = None, *, dry_run: bool = False) -> ScriptResult:
    """Run a script, with the event of its end; a longer run has it when it is over."""
    work = {"mount": mount, "script": name, "dry_run": dry_run}
    try:
        ran = run_now.run_script(mount, name, data, dry_run=dry_run)
    except ScriptFailed as error:
        record_end(work, {"error": str(error)})
        raise
    record_end(work, {"seconds": ran.seconds})
    return ran


def _named(script: Mapping[str, Any]) -> str:
    return f"{script['mount']}/{script['name']}"
