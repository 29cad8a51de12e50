"""What is wrong with watched names and with backends."""

from shlex import quote
from typing import Any

from atributo_site.core.incidents.cure import Cure
from atributo_site.core.incidents.symptom import Severity, Symptom
from atributo_site.core.text import pluralize
from pools.logic.dns.meanings import meaning
from pools.snapshot import MOST_TROUBLED

LOOKED_UP = (
    "The name servers are asked right away. The backends stay as they are until an answer arrives."
)


def symptoms(seen: dict[str, Any]) -> list[Symptom]:
    """Take what `snapshot` returned."""
    return [
        *_names(seen.get("troubled", [])),
        *_dead(seen.get("dead_backends", [])),
        *_refused(seen.get("backends", {}).get("refused", 0)),
    ]


def _names(pools: list[dict[str, Any]]) -> list[Symptom]:
    return [
        Symptom(
            kind="name.troubled",
            subject=f"pool:{pool['name']}",
            severity=Severity.ERROR if pool["state"] == "failed" else Severity.WARNING,
            title=f"Watched name {pool['name']}: {pool['state']}",
            detail=_why(pool),
            command=f"manage.py pools show {quote(pool['name'])}",
            cure=Cure("pool.look_up", f"Look up {pool['name']} now", LOOKED_UP, pool["name"]),
            since=pool["since"],
            is_cut=len(pools) >= MOST_TROUBLED,
        )
        for pool in pools
    ]


def _why(pool: dict[str, Any]) -> str:
    error = pool["error"]
    if not error:
        return f"{pluralize(pool['waiting'], 'backend')} disappeared at once."
    means = meaning(error)
    return f"{error}. {means}" if means else error


def _dead(domains: list[dict[str, Any]]) -> list[Symptom]:
    """Report each domain: an error where a pool has no other backend."""
    return [
        Symptom(
            kind="backends.dead",
            subject=f"domain:{each['domain']}",
            severity=Severity.ERROR if each["failed"] else Severity.WARNING,
            title=f"{each['domain']}: {_count(each['dead'], each['known'])} dead",
            detail=each["why"],
            affected=pluralize(each["dead"], "backend"),
            is_cut=len(domains) >= MOST_TROUBLED,
        )
        for each in domains
    ]


def _count(dead: int, known: int) -> str:
    return f"{dead} of {pluralize(known, 'backend is', 'backends are')}"


def _refused(count: int) -> list[Symptom]:
    if not count:
        return []
    return [
        Symptom(
            kind="backends.refused",
            subject="site:backends",
            severity=Severity.WARNING,
            title=pluralize(count, "backend is refused", "backends are refused"),
            detail="In DNS, but not used: ATRIBUTO_DNS_TARGET_NETWORKS does not permit the"
            " address.",
            affected=pluralize(count, "backend"),
        )
    ]
