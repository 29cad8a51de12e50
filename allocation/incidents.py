"""What is wrong with instances: dead ones with keys, and drains that do not progress."""

from shlex import quote
from typing import Any

from allocation.snapshot import MOST_TROUBLED
from atributo_site.core.incidents.cure import Cure
from atributo_site.core.incidents.symptom import Severity, Symptom
from atributo_site.core.text import pluralize

PACE = "60"  # moves per minute
NAMED = 3
OPEN_ALL = "Make one available there, or raise the capacity of one: keys go to it at once."
KINDS = {"dead": "instance.dead", "stuck": "drain.stuck", "overdue": "drain.overdue"}
DETAILS = {
    "dead": "Its heartbeat has stopped. The keys wait until it comes back or a drain moves them.",
    "stuck": "No other instance has room. Make one available, or raise the capacity of one.",
    "overdue": "It missed its deadline by over a minute. The curator moves the remaining keys.",
}
COMMANDS = {
    "dead": f"manage.py instances drain {{id}} --pace {PACE}",
    "stuck": "manage.py instances available ID",
    "overdue": "manage.py jobs {id}",
}


def symptoms(seen: dict[str, Any]) -> list[Symptom]:
    """Take what `snapshot` returned."""
    troubled = seen.get("troubled", [])
    is_cut = len(troubled) >= MOST_TROUBLED
    return _none_available(seen) + [
        Symptom(
            kind=KINDS[each["trouble"]],
            subject=f"instance:{each['id']}",
            severity=Severity.ERROR if each["trouble"] == "dead" else Severity.WARNING,
            title=_title(each),
            detail=DETAILS[each["trouble"]],
            command=COMMANDS[each["trouble"]].format(id=quote(each["id"])),
            cure=_cure(each),
            affected=pluralize(each["load"], "key"),
            is_cut=is_cut,
        )
        for each in troubled
    ]


def _none_available(seen: dict[str, Any]) -> list[Symptom]:
    """Report instances of which none takes a key; while one drains, somebody works on it."""
    total = seen.get("instances_total", 0)
    if not total or seen.get("instances_available") or seen.get("draining"):
        return []
    named = ", ".join(each["id"] for each in seen.get("instances", [])[:NAMED])
    return [
        Symptom(
            kind="instances.unavailable",
            subject="site:instances",
            severity=Severity.ERROR,
            title="No instance is available",
            detail=f"New keys cannot be allocated. Unavailable: {named}.",
            command="manage.py instances available ID",
            cure=Cure("instances.open", "Open the instances", OPEN_ALL),
            affected=pluralize(total, "instance"),
        )
    ]


def _cure(each: dict[str, Any]) -> Cure:
    name, keys = each["id"], pluralize(each["load"], "key")
    if each["trouble"] == "dead":
        preview = f"{keys} move to other instances, {PACE} a minute."
        return Cure("instance.drain", f"Drain {name}", preview, name, {"moves_per_minute": PACE})
    if each["trouble"] == "stuck":
        return Cure("instances.open", "Open the instances", OPEN_ALL)
    return Cure(
        "instance.open", f"Open {name}", "Its page shows where the keys go, and moves them.", name
    )


def _title(each: dict[str, Any]) -> str:
    keys = pluralize(each["load"], "key")
    if each["trouble"] == "dead":
        return f"Instance {each['id']} is dead with {keys} on it"
    return f"The drain of {each['id']} is {each['trouble']} with {keys} left"
