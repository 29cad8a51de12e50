"""What an operator should look at first: pure, from the snapshot alone."""

from typing import Any

from allocation.logic.counted import counted
from atributo_site.late_queues import late_queues

LARGEST_SKEW_SECONDS = 2.0  # between the web server's clock and the database's
OFTEN = 3  # restarts of one process that are worth a look


def attention(snapshot: dict[str, Any]) -> list[dict[str, str]]:
    """Errors first, then warnings."""
    found = [
        *_integrity(snapshot),
        *_redis(snapshot),
        *_clock(snapshot),
        *_curator(snapshot),
        *_workers(snapshot),
        *_late_queues(snapshot),
        *_failing(snapshot),
        *_transactions(snapshot),
        *_pools(snapshot),
        *_restarts(snapshot),
    ]
    return sorted(found, key=lambda item: item["level"] != "error")


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
    return [_item("warning", "Redis is degraded", snapshot["redis"]["detail"], "manage.py doctor")]


def _clock(snapshot: dict[str, Any]) -> list[dict[str, str]]:
    skew = abs(snapshot.get("clock_skew_seconds", 0.0))
    if skew <= LARGEST_SKEW_SECONDS:
        return []
    title = f"This machine and the database differ by {skew:.0f} s"
    detail = "Times on pages, ids and back-offs are off by as much: run a time service on both."
    return [_item("warning", title, detail, "manage.py doctor", "/system/")]


def _curator(snapshot: dict[str, Any]) -> list[dict[str, str]]:
    if snapshot["curator"]["active"]:
        return []
    detail = "Nobody repairs what a crash leaves behind."
    return [_item("error", "No curator is active", detail, "manage.py run_curator")]


def _workers(snapshot: dict[str, Any]) -> list[dict[str, str]]:
    workers = [p for p in snapshot["processes"] if p["kind"] == "worker"]
    silent = [p["name"] for p in workers if p["state"] == "silent"]
    found = [
        _item("warning", f"Worker {name} is silent", "Its lease has run out.", "manage.py worker")
        for name in silent
    ]
    if not any(p["state"] == "running" for p in workers):
        detail = "Queued jobs wait until a worker runs."
        found.append(_item("error", "No worker runs", detail, "manage.py worker"))
    return found


def _late_queues(snapshot: dict[str, Any]) -> list[dict[str, str]]:
    found = late_queues(snapshot.get("queues", {}).get("queues", []))
    return [_item("warning", *said) for said in found]


def _failing(snapshot: dict[str, Any]) -> list[dict[str, str]]:
    return [
        _item(
            "warning",
            f"{counted(group['count'], 'job')} failed with the same error in the last hour",
            group["error"][:160],
            f"manage.py queued_jobs list --fingerprint {group['fingerprint']}",
            "/jobs/failures/",
        )
        for group in snapshot.get("queues", {}).get("failing", [])
    ]


def _transactions(snapshot: dict[str, Any]) -> list[dict[str, str]]:
    seen = snapshot.get("transactions", {})
    return [*_stuck(seen), *_overdue(seen, snapshot["curator"]), *_orphans(seen)]


def _stuck(seen: dict[str, Any]) -> list[dict[str, str]]:
    if not seen.get("stuck"):
        return []
    title = counted(seen["stuck"], "transaction is stuck", "transactions are stuck")
    detail = "The roll back failed; the keys stay locked until it succeeds or somebody decides."
    command = "manage.py transactions list --kind stuck"
    return [_item("error", title, detail, command, "/transactions/stuck/")]


def _overdue(seen: dict[str, Any], curator: dict[str, Any]) -> list[dict[str, str]]:
    """A moment after its time is over one is overdue; without a curator it stays so."""
    if not seen.get("overdue") or curator["active"]:
        return []
    title = counted(seen["overdue"], "transaction is overdue", "transactions are overdue")
    detail = "Its time is over and no curator is there to roll it back."
    return [_item("error", title, detail, "manage.py run_curator", "/transactions/")]


def _orphans(seen: dict[str, Any]) -> list[dict[str, str]]:
    if not seen.get("orphaned_locks"):
        return []
    title = counted(seen["orphaned_locks"], "lock outlived", "locks outlived")
    detail = "The curator frees it with its next sweep."
    command = "manage.py locks list"
    return [_item("warning", f"{title} the transaction", detail, command, "/transactions/locks/")]


def _pools(snapshot: dict[str, Any]) -> list[dict[str, str]]:
    return [
        _item(
            "error" if pool["state"] == "failed" else "warning",
            f"Watched name {pool['name']}: {pool['state']}",
            pool["error"] or f"{counted(pool['waiting'], 'backend')} vanished at once.",
            f"manage.py pools show {pool['name']}",
        )
        for pool in snapshot.get("pools", {}).get("troubled", [])
    ]


def _restarts(snapshot: dict[str, Any]) -> list[dict[str, str]]:
    return [
        _item(
            "warning",
            f"{child['name']} was restarted {counted(child['restarts'], 'time')}",
            f"Last end: {child['last_exit']}.",
            f"less var/log/{child['name']}.log",
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
