"""Names and backends that somebody should look at, with what is said of each: pure."""

from shlex import quote
from typing import Any

from django.urls import reverse

from allocation.logic.counted import counted

Said = tuple[str, str, str, str, str]


def troubled_names(found: list[dict[str, Any]]) -> list[Said]:
    """Level, title, detail, command and screen of each."""
    return [
        (
            "error" if pool["state"] == "failed" else "warning",
            f"Watched name {pool['name']}: {pool['state']}",
            pool["error"] or f"{counted(pool['waiting'], 'backend')} vanished at once.",
            f"manage.py pools show {quote(pool['name'])}",
            reverse("pool", args=[pool["name"]]),
        )
        for pool in found
    ]


def dead_backends(found: list[dict[str, Any]]) -> list[Said]:
    """One for each domain: an error where a pool has no other backend."""
    return [
        (
            "error" if each["failed"] else "warning",
            f"{each['domain']}: {_dead(each['dead'], each['known'])}",
            each["why"],
            "",
            reverse("pools-live"),
        )
        for each in found
    ]


def refused_backends(count: int) -> list[Said]:
    if not count:
        return []
    title = counted(count, "backend is refused", "backends are refused")
    detail = "In DNS, but no instances: ATRIBUTO_DNS_TARGET_NETWORKS does not permit the address."
    return [("warning", title, detail, "", f"{reverse('pools-backends')}?state=refused")]


def _dead(dead: int, known: int) -> str:
    return f"{dead} of {counted(known, 'backend is', 'backends are')} dead"
