"""Jobs and scripts as people and programs ask for them at the doors: each with its event.

A push by a program in the site leaves none: its job says who pushed it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.transaction import atomic

from allocation.events import record
from queues import run_now
from queues.errors import ScriptFailed
from queues.push import Pushed, stored
from queues.push import push_many as store_many
from queues.run_now import Ran
from queues.script_runs import record_end

NAMED = 20  # jobs that the event of a batch lists


def push(queue: str, script: Any, data: Any, given: Mapping[str, Any]) -> str:
    """The job and its event are one; the id of a twin is no push, and none is told."""
    with atomic():
        pushed = stored(queue, script, data, given, using="default")
        if pushed.is_new:
            _tell_of(pushed, queue=queue, script=_named(script))
    return pushed.id


def push_many(queue: str, script: Any, datas: Sequence[Any], given: Mapping[str, Any]) -> list[str]:
    """One event for all of them."""
    with atomic():
        ids = store_many(queue, script, datas, given, using="default")
        if ids:
            facts: dict[str, Any] = {"count": len(ids), "first": ids[:NAMED]}
            record("jobs.pushed", f"queue:{queue}", **facts, script=_named(script))
    return ids


def run_script(mount: str, name: str, data: Any = None, *, dry_run: bool = False) -> Ran:
    """With the event of its end; that of a run which takes longer is recorded when it is over."""
    work = {"mount": mount, "script": name, "dry_run": dry_run}
    try:
        ran = run_now.run_script(mount, name, data, dry_run=dry_run)
    except ScriptFailed as error:
        record_end(work, {"error": str(error)})
        raise
    record_end(work, {"seconds": ran.seconds})
    return ran


def _tell_of(pushed: Pushed, **facts: str) -> None:
    """What waits for a transaction is no job yet."""
    if pushed.holder is None:
        record("job.pushed", f"job:{pushed.id}", **facts)
    else:
        record("push.held", f"job:{pushed.id}", **facts, transaction=pushed.holder)


def _named(script: Mapping[str, Any]) -> str:
    return f"{script['mount']}/{script['name']}"
