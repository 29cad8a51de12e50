"""What an operator should look at first: pure, from the snapshot alone."""

from typing import Any

OFTEN = 3  # restarts of one process that are worth a look


def attention(snapshot: dict[str, Any]) -> list[dict[str, str]]:
    return [
        *_redis(snapshot),
        *_curator(snapshot),
        *_workers(snapshot),
        *_pools(snapshot),
        *_restarts(snapshot),
    ]


def _redis(snapshot: dict[str, Any]) -> list[dict[str, str]]:
    if snapshot["redis"]["state"] == "ok":
        return []
    return [_item("warning", "Redis is degraded", snapshot["redis"]["detail"], "manage.py doctor")]


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


def _pools(snapshot: dict[str, Any]) -> list[dict[str, str]]:
    return [
        _item(
            "error" if pool["state"] == "failed" else "warning",
            f"Watched name {pool['name']}: {pool['state']}",
            pool["error"] or f"{pool['waiting']} backends vanished at once.",
            f"manage.py pools show {pool['name']}",
        )
        for pool in snapshot.get("pools", {}).get("troubled", [])
    ]


def _restarts(snapshot: dict[str, Any]) -> list[dict[str, str]]:
    return [
        _item(
            "warning",
            f"{child['name']} was restarted {child['restarts']} times",
            f"Last end: {child['last_exit']}.",
            f"less var/log/{child['name']}.log",
        )
        for child in snapshot["restarts"]
        if child["restarts"] >= OFTEN
    ]


def _item(level: str, title: str, detail: str, command: str) -> dict[str, str]:
    return {"level": level, "title": title, "detail": detail, "command": command}
