"""List what an operator should look at first, computed from the snapshot alone."""

from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from atributo_site.core.text import pluralize
from atributo_site.status.attention_items import (
    dead_backends,
    late_queues,
    refused_backends,
    troubled_instances,
    troubled_names,
)
from atributo_site.web.format import roughly

LARGEST_SKEW_SECONDS = 2.0  # between the web server's clock and the database's
MOST_AHEAD_SECONDS = 1000.0  # so far one batch of the largest size may move the mark of job ids
PROCESSES = "/system/processes/"
OFTEN = 3  # restarts of one process that are worth a look


def attention(snapshot: dict[str, Any]) -> list[dict[str, str]]:
    """Return errors first, then warnings."""
    items = [
        *_integrity(snapshot),
        *_redis(snapshot),
        *_clock(snapshot),
        *_ids_ahead(snapshot),
        *_curator(snapshot),
        *_workers(snapshot),
        *_late_queues(snapshot),
        *_failing(snapshot),
        *_transactions(snapshot),
        *_instances(snapshot),
        *_pools(snapshot),
        *_restarts(snapshot),
    ]
    return sorted(items, key=lambda item: item["level"] != "error")


def _integrity(snapshot: dict[str, Any]) -> list[dict[str, str]]:
    return [
        _item(
            "error",
            f"Broken: {rule['sentence']}",
            ", ".join(rule["rows"][:3]),
            f"manage.py verify --rule '{rule['name']}'",
            "/system/integrity/",
        )
        for rule in snapshot["integrity"]["broken"]
    ]


def _redis(snapshot: dict[str, Any]) -> list[dict[str, str]]:
    if snapshot["redis"]["state"] == "ok":
        return []
    detail = snapshot["redis"]["detail"]
    return [_item("warning", "Redis is degraded", detail, "manage.py doctor", "/system/")]


def _clock(snapshot: dict[str, Any]) -> list[dict[str, str]]:
    skew = abs(snapshot.get("clock_skew_seconds", 0.0))
    if skew <= LARGEST_SKEW_SECONDS:
        return []
    title = f"This machine and the database differ by {skew:.0f} s"
    detail = "Times on pages, ids and back-offs are off by as much: run a time service on both."
    return [_item("warning", title, detail, "manage.py doctor", "/system/")]


def _ids_ahead(snapshot: dict[str, Any]) -> list[dict[str, str]]:
    seconds = snapshot.get("allocation", {}).get("id_numbers_ahead_seconds", 0.0)
    if seconds <= MOST_AHEAD_SECONDS:
        return []
    title = f"Job ids are {roughly(seconds)} ahead of the clock"
    detail = "A clock went back, or batches were huge. No id is made twice; their times are wrong."
    return [_item("warning", title, detail, "manage.py doctor", "/system/")]


def _curator(snapshot: dict[str, Any]) -> list[dict[str, str]]:
    if snapshot["curator"]["active"]:
        return []
    detail = "Nobody repairs what a crash leaves behind."
    command, screen = "manage.py run_curator", "/transactions/curators/"
    return [_item("error", "No curator is active", detail, command, screen)]


def _workers(snapshot: dict[str, Any]) -> list[dict[str, str]]:
    workers = [p for p in snapshot["processes"] if p["kind"] == "worker"]
    silent = [p["name"] for p in workers if p["state"] == "silent"]
    detail, command = "Its lease has run out.", "manage.py worker"
    items = [
        _item("warning", f"Worker {name} is silent", detail, command, PROCESSES) for name in silent
    ]
    if not any(p["state"] == "running" for p in workers):
        detail = "Queued jobs wait until a worker runs."
        items.append(_item("error", "No worker runs", detail, command, PROCESSES))
    return items


def _late_queues(snapshot: dict[str, Any]) -> list[dict[str, str]]:
    seen = snapshot.get("queues", {})
    items = late_queues([*seen.get("queues", []), *seen.get("late_not_shown", [])])
    return [_item("warning", *item) for item in items]


def _failing(snapshot: dict[str, Any]) -> list[dict[str, str]]:
    return [
        _item(
            "warning",
            f"{pluralize(group['count'], 'job')} failed with the same error in the last hour",
            group["error"][:160],
            f"manage.py queued_jobs list --fingerprint {group['fingerprint']}",
            _jobs_with(group["fingerprint"]),
        )
        for group in snapshot.get("queues", {}).get("failing", [])
    ]


def _jobs_with(fingerprint: str) -> str:
    return f"{reverse('jobs')}?{urlencode({'state': 'failed', 'fingerprint': fingerprint})}"


def _transactions(snapshot: dict[str, Any]) -> list[dict[str, str]]:
    seen = snapshot.get("transactions", {})
    return [*_stuck(seen), *_overdue(seen, snapshot["curator"]), *_orphans(seen)]


def _stuck(seen: dict[str, Any]) -> list[dict[str, str]]:
    if not seen.get("stuck"):
        return []
    title = pluralize(seen["stuck"], "transaction is stuck", "transactions are stuck")
    detail = "The roll back failed; the keys stay locked until it succeeds or somebody decides."
    command = "manage.py transactions list --kind stuck"
    return [_item("error", title, detail, command, "/transactions/stuck/")]


def _overdue(seen: dict[str, Any], curator: dict[str, Any]) -> list[dict[str, str]]:
    """Report overdue transactions only without a curator, which would roll them back at once."""
    if not seen.get("overdue") or curator["active"]:
        return []
    title = pluralize(seen["overdue"], "transaction is overdue", "transactions are overdue")
    detail = "Its time is over and no curator is there to roll it back."
    return [_item("error", title, detail, "manage.py run_curator", "/transactions/")]


def _orphans(seen: dict[str, Any]) -> list[dict[str, str]]:
    if not seen.get("orphaned_locks"):
        return []
    title = pluralize(seen["orphaned_locks"], "lock outlived", "locks outlived")
    detail = "The curator frees it with its next sweep."
    command = "manage.py locks list"
    return [_item("warning", f"{title} the transaction", detail, command, "/transactions/locks/")]


def _instances(snapshot: dict[str, Any]) -> list[dict[str, str]]:
    items = troubled_instances(snapshot.get("allocation", {}).get("troubled", []))
    return [_item(*item) for item in items]


def _pools(snapshot: dict[str, Any]) -> list[dict[str, str]]:
    seen = snapshot.get("pools", {})
    items = [
        *troubled_names(seen.get("troubled", [])),
        *dead_backends(seen.get("dead_backends", [])),
        *refused_backends(seen.get("backends", {}).get("refused", 0)),
    ]
    return [_item(*item) for item in items]


def _restarts(snapshot: dict[str, Any]) -> list[dict[str, str]]:
    return [
        _item(
            "warning",
            f"{child['name']} was restarted {pluralize(child['restarts'], 'time')}",
            f"Last end: {child['last_exit']}.",
            f"less var/log/{child['name']}.log",
            PROCESSES,
        )
        for child in snapshot["restarts"]
        if child["restarts"] >= OFTEN
    ]


def _item(level: str, title: str, detail: str, command: str, screen: str = "") -> dict[str, str]:
    return {
        "level": level,
        "title": title,
        "detail": detail,
        "command": command,
        "screen": screen,
    }
