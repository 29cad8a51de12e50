"""Describe queues, instances and watched names that need attention, from the snapshot alone."""

from shlex import quote
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from atributo_site.core.text import pluralize
from atributo_site.web.format import duration, roughly
from queues.logic.lateness import needs_a_look, target_age
from queues.logic.search_query import written
from queues.models.queue import MOST_WORKERS

STICKY_COLUMNS = ["state", "script", "sticky", "instance", "when"]
Item = tuple[str, str, str, str, str]
DETAILS = {
    "dead": "Its heartbeat has stopped. They wait until it comes back or a drain moves them.",
    "stuck": "No other instance has room for them. Make one available, or give one more room.",
    "overdue": "Its deadline is over by more than a minute. The curator moves what is left.",
}
COMMANDS = {
    "dead": "manage.py instances drain {id} --pace 60",
    "stuck": "manage.py instances available ID",
    "overdue": "manage.py jobs {id}",
}


def late_queues(queues: list[dict[str, Any]]) -> list[tuple[str, str, str, str]]:
    """Return title, detail, command and screen of each."""
    return [
        _late_queue(queue)
        for queue in queues
        if needs_a_look(queue["lateness"], queue["target_age_seconds"], queue["running"])
    ]


def _late_queue(queue: dict[str, Any]) -> tuple[str, str, str, str]:
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
    """Suggest more slots where every slot is held: another worker would not help."""
    if queue["running"] < queue["max_workers"]:
        return "manage.py worker"
    most = min(queue["max_workers"] + 1, MOST_WORKERS)
    return f"manage.py queue create {quote(queue['name'])} --max-workers {most}"


def _waiting(name: str, **filters: list[str]) -> str:
    asked = {"state": "waiting", "q": written("queue", name), **filters}
    return f"/jobs/?{urlencode(asked, doseq=True)}"


def troubled_instances(instances: list[dict[str, Any]]) -> list[Item]:
    """Return level, title, detail, command and screen of each."""
    return [
        (
            "error" if each["trouble"] == "dead" else "warning",
            _title(each),
            DETAILS[each["trouble"]],
            COMMANDS[each["trouble"]].format(id=quote(each["id"])),
            reverse("instance", args=[each["id"]]),
        )
        for each in instances
    ]


def _title(each: dict[str, Any]) -> str:
    jobs = pluralize(each["load"], "job id")
    if each["trouble"] == "dead":
        return f"Instance {each['id']} is dead with {jobs} on it"
    return f"The drain of {each['id']} is {each['trouble']} with {jobs} left"


def troubled_names(names: list[dict[str, Any]]) -> list[Item]:
    """Return level, title, detail, command and screen of each."""
    return [
        (
            "error" if pool["state"] == "failed" else "warning",
            f"Watched name {pool['name']}: {pool['state']}",
            pool["error"] or f"{pluralize(pool['waiting'], 'backend')} vanished at once.",
            f"manage.py pools show {quote(pool['name'])}",
            reverse("pool", args=[pool["name"]]),
        )
        for pool in names
    ]


def dead_backends(domains: list[dict[str, Any]]) -> list[Item]:
    """Return one item for each domain: an error where a pool has no other backend."""
    return [
        (
            "error" if each["failed"] else "warning",
            f"{each['domain']}: {_dead(each['dead'], each['known'])}",
            each["why"],
            "",
            reverse("pools-live"),
        )
        for each in domains
    ]


def refused_backends(count: int) -> list[Item]:
    if not count:
        return []
    title = pluralize(count, "backend is refused", "backends are refused")
    detail = "In DNS, but no instances: ATRIBUTO_DNS_TARGET_NETWORKS does not permit the address."
    return [("warning", title, detail, "", f"{reverse('pools-backends')}?state=refused")]


def _dead(dead: int, known: int) -> str:
    return f"{dead} of {pluralize(known, 'backend is', 'backends are')} dead"
