"""Run a script now and keep the answer for a day; list the last runs of a script."""

import json
import secrets
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import Any

from django.core import signing

from atributo_site.console.jobs.state import job_state
from atributo_site.core.events import Actor, acting
from atributo_site.core.models import Event
from atributo_site.core.redaction import unfilled, without
from atributo_site.models import IdempotencyKey
from atributo_site.web.pagination import newest_by_key
from queues.audited import run_script
from queues.errors import ScriptFailed, ScriptStillRuns
from queues.models import QueuedJob, Script
from queues.queries.presenters import masked_by_schema
from queues.queries.redaction import hiding
from queues.worker import script_runs
from queues.worker.run_now import ScriptResult

SALT = "atributo.script_run"
MOST_LINES = 500
MOST_PUSHES = 100
LARGEST = 200_000
TOO_LARGE = "too large to store"
LAST_RUNS = 10
PUSHED_LOOKED_AT = 200  # jobs of the script
LOOKED_AT = 100  # of the runs of all scripts of the service
AT_ONCE = {"script.ran": "complete", "script.dry_ran": "complete", "script.failed": "failed"}


def run(user: Any, script: Script, data: Any, *, dry_run: bool) -> str:
    """Run the script and return the word by which `kept` finds the answer."""
    try:
        ran = run_script(script.service.mount, script.name, data, dry_run=dry_run)
    except ScriptStillRuns as error:
        answer = {"key": error.key, "lines": []}
    except ScriptFailed as error:
        answer = _failed(error)
    else:
        answer = _ended(ran)
    return _keep(user, script, data, {**answer, "dry_run": dry_run})


def kept(script: Script, word: str) -> dict[str, Any] | None:
    """Return the answer; None for a foreign word, another script, or an answer that is gone."""
    try:
        pk = signing.loads(word, salt=SALT)
    except signing.BadSignature:
        return None
    row = IdempotencyKey.objects.select_related("user").filter(pk=pk).first()
    if row is None:
        return None
    answer = json.loads(row.body)
    if answer["script"] != _name(script):
        return None
    if "key" in answer:
        answer |= _late_answer(script, answer["key"], row.user.get_username())
    return {**answer, "at": row.created_at, "by": row.user.get_username()}


def _late_answer(script: Script, key: str, user: str) -> dict[str, Any]:
    """Look up a run that took longer than the page waited."""
    with acting(Actor(user)):
        run = script_runs.get_run(key)
    if run.answer is None:
        return {"is_running": True}
    data = None if run.work["data"] is None else json.loads(run.work["data"])
    try:
        answer = _ended(script_runs.result_of(run.answer))
    except ScriptFailed as error:
        answer = _failed(error)
    return _without_secrets(script, data, answer)


def _ended(ran: ScriptResult) -> dict[str, Any]:
    return {
        "seconds": ran.seconds,
        "result": ran.result,
        "lines": ran.lines,
        "transactions": ran.transactions,
        "pushes": ran.pushes,
    }


def _failed(error: ScriptFailed) -> dict[str, Any]:
    return {
        "error": str(error),
        "status": error.status_code,
        "traceback": error.facts.get("traceback", ""),
        "lines": error.facts.get("lines", []),
    }


def _keep(user: Any, script: Script, data: Any, answer: dict[str, Any]) -> str:
    kept_answer = {**_without_secrets(script, data, answer), "script": _name(script)}
    key = f"ran {secrets.token_urlsafe(16)}"  # a space is in no key that a client may send
    row = IdempotencyKey.objects.create(
        user=user, key=key, status=200, body=json.dumps(kept_answer)
    )
    return signing.dumps(row.pk, salt=SALT)


def _without_secrets(script: Script, data: Any, answer: dict[str, Any]) -> dict[str, Any]:
    """Mask secrets, since everybody who sees the script may open the address."""
    masked = masked_by_schema(data, script.schema)
    kept_answer = without(masked_by_schema(answer, None), hiding([script]).met_with(data))
    return {
        **kept_answer,
        "data": _small(unfilled(masked), None),
        "result": _small(kept_answer.get("result"), TOO_LARGE),
        "lines": kept_answer["lines"][-MOST_LINES:],
        "pushes": [_small(push, {}) for push in kept_answer.get("pushes", [])[:MOST_PUSHES]],
    }


def _small(value: Any, otherwise: Any) -> Any:
    return value if len(json.dumps(value)) <= LARGEST else otherwise


def _name(script: Script) -> list[str]:
    return [script.service.mount, script.name]


@dataclass(frozen=True)
class LastRun:
    """A pushed job, or a run at once, which has no job."""

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
    """Return jobs that have run, among the newest; those that wait for their time have not."""
    jobs = QueuedJob.objects.visible().of_script(script.service.mount, script.name)
    newest = newest_by_key(jobs.select_related("queue").defer("data", "result"), PUSHED_LOOKED_AT)
    ran = [job for job in newest if job.started_at or job.ended_at or job.attempt or job.runs]
    return [
        LastRun(
            job.ended_at or job.started_at or job.created_at, job_state(job, now), job.error, job
        )
        for job in ran[:LAST_RUNS]
    ]


def _at_once(script: Script) -> list[LastRun]:
    """Return the runs at once that are among the newest events of the service."""
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
