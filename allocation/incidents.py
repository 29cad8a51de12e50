"""What is wrong with instances: dead ones with keys, and drains that do not progress."""

from shlex import quote
from typing import Any

from allocation.snapshot import MOST_TROUBLED
from atributo_site.core.incidents.symptom import Severity, Symptom
from atributo_site.core.text import pluralize

KINDS = {"dead": "instance.dead", "stuck": "drain.stuck", "overdue": "drain.overdue"}
DETAILS = {
    "dead": "Its heartbeat has stopped. The keys wait until it comes back or a drain moves them.",
    "stuck": "No other instance has room. Make one available, or raise the capacity of one.",
    "overdue": "It missed its deadline by over a minute. The curator moves the remaining keys.",
}
COMMANDS = {
    "dead": "manage.py instances drain {id} --pace 60",
    "stuck": "manage.py instances available ID",
    "overdue": "manage.py jobs {id}",
}


def symptoms(seen: dict[str, Any]) -> list[Symptom]:
    """Take what `snapshot` returned."""
    troubled = seen.get("troubled", [])
    is_cut = len(troubled) >= MOST_TROUBLED
    return [
        Symptom(
            kind=KINDS[each["trouble"]],
            subject=f"instance:{each['id']}",
            severity=Severity.ERROR if each["trouble"] == "dead" else Severity.WARNING,
            title=_title(each),
            detail=DETAILS[each["trouble"]],
            command=COMMANDS[each["trouble"]].format(id=quote(each["id"])),
            affected=pluralize(each["load"], "key"),
            is_cut=is_cut,
        )
        for each in troubled
    ]


def _title(each: dict[str, Any]) -> str:
    keys = pluralize(each["load"], "key")
    if each["trouble"] == "dead":
        return f"Instance {each['id']} is dead with {keys} on it"
    return f"The drain of {each['id']} is {each['trouble']} with {keys} left"
