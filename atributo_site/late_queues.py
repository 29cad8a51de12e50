"""Queues that somebody should look at, with what is said of each: pure, from the snapshot."""

from shlex import quote
from typing import Any
from urllib.parse import urlencode

from atributo_site.console.durations import duration, roughly
from queues.logic.job_query import written
from queues.logic.lateness import needs_a_look, target_age
from queues.models.queue import MOST_WORKERS

STICKY_COLUMNS = ["state", "script", "sticky", "instance", "when"]


def late_queues(queues: list[dict[str, Any]]) -> list[tuple[str, str, str, str]]:
    """Title, detail, command and screen of each."""
    return [
        _said(queue)
        for queue in queues
        if needs_a_look(queue["lateness"], queue["target_age_seconds"], queue["running"])
    ]


def _said(queue: dict[str, Any]) -> tuple[str, str, str, str]:
    name, since = queue["name"], _since(queue)
    if queue["oldest_is_sticky"]:  # another worker would not help
        title = f"Sticky jobs of the queue {name} wait for their instance"
        detail = f"{since} Open it to see what it waits for."
        screen = _waiting(name, columns=STICKY_COLUMNS)
        return title, detail, "manage.py worker --instance ID", screen
    if queue["running"]:
        title = f"The queue {name} is {queue['lateness']}"
        detail = f"{since} {queue['running']} of {queue['max_workers']} slots are in use."
        return title, detail, _more_workers(queue), _waiting(name)
    return f"Nobody works at the queue {name}", since, "manage.py worker", _waiting(name)


def _since(queue: dict[str, Any]) -> str:
    age, target = queue["oldest_seconds"], target_age(queue["target_age_seconds"])
    return f"Its oldest job has been due for {duration(age)}; its target age is {roughly(target)}."


def _more_workers(queue: dict[str, Any]) -> str:
    """Where every slot is held another worker would not help."""
    if queue["running"] < queue["max_workers"]:
        return "manage.py worker"
    most = min(queue["max_workers"] + 1, MOST_WORKERS)
    return f"manage.py queue create {quote(queue['name'])} --max-workers {most}"


def _waiting(name: str, **shown: list[str]) -> str:
    asked = {"state": "waiting", "q": written("queue", name), **shown}
    return f"/jobs/?{urlencode(asked, doseq=True)}"
