"""A script that is run now, and what came of it: kept for a day, with an address of its own."""

import json
import secrets
from typing import Any

from django.core import signing

from allocation.events import Actor, acting
from allocation.logic.redaction import unfilled, without
from atributo_site.models import IdempotencyKey
from queues import script_runs
from queues.doors import run_script
from queues.errors import ScriptFailed, ScriptStillRuns
from queues.hiding import hiding
from queues.models import Script
from queues.run_now import Ran
from queues.shown import hidden

SALT = "atributo.script_run"
MOST_LINES = 500
MOST_PUSHES = 100
LARGEST = 200_000
TOO_LARGE = "too large to be kept"


def run(user: Any, script: Script, data: Any, *, dry_run: bool) -> str:
    """Run it; the word by which `kept` finds what came of it."""
    try:
        ran = run_script(script.service.mount, script.name, data, dry_run=dry_run)
    except ScriptStillRuns as error:
        came = {"key": error.key, "lines": []}
    except ScriptFailed as error:
        came = _failed(error)
    else:
        came = _ended(ran)
    return _keep(user, script, data, {**came, "dry_run": dry_run})


def kept(script: Script, word: str) -> dict[str, Any] | None:
    """None when it is no word of ours, of another script, or too long ago."""
    try:
        pk = signing.loads(word, salt=SALT)
    except signing.BadSignature:
        return None
    row = IdempotencyKey.objects.select_related("user").filter(pk=pk).first()
    if row is None:
        return None
    came = json.loads(row.body)
    if came["script"] != _name(script):
        return None
    if "key" in came:
        came |= _looked_up(script, came["key"], row.user.get_username())
    return {**came, "at": row.created_at, "by": row.user.get_username()}


def _looked_up(script: Script, key: str, user: str) -> dict[str, Any]:
    """What has become of a run that took longer than anybody waits for."""
    with acting(Actor(user)):
        run = script_runs.found(key)
    if run.answer is None:
        return {"is_running": True}
    data = None if run.work["data"] is None else json.loads(run.work["data"])
    try:
        came = _ended(script_runs.ran_of(run.answer))
    except ScriptFailed as error:
        came = _failed(error)
    return _without_secrets(script, data, came)


def _ended(ran: Ran) -> dict[str, Any]:
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


def _keep(user: Any, script: Script, data: Any, came: dict[str, Any]) -> str:
    story = {**_without_secrets(script, data, came), "script": _name(script)}
    key = f"ran {secrets.token_urlsafe(16)}"  # a space is in no key that a client may send
    row = IdempotencyKey.objects.create(user=user, key=key, status=200, body=json.dumps(story))
    return signing.dumps(row.pk, salt=SALT)


def _without_secrets(script: Script, data: Any, came: dict[str, Any]) -> dict[str, Any]:
    """Whoever may look at the script may be shown the address."""
    shown = hidden(data, script.schema)
    story = without(hidden(came, None), hiding([script]).met_with(data))
    return {
        **story,
        "data": _small(unfilled(shown), None),
        "result": _small(story.get("result"), TOO_LARGE),
        "lines": story["lines"][-MOST_LINES:],
        "pushes": [_small(push, {}) for push in story.get("pushes", [])[:MOST_PUSHES]],
    }


def _small(value: Any, otherwise: Any) -> Any:
    return value if len(json.dumps(value)) <= LARGEST else otherwise


def _name(script: Script) -> list[str]:
    return [script.service.mount, script.name]
