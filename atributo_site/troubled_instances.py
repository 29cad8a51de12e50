"""Instances that somebody should look at, with what is said of each: pure, from the snapshot."""

from shlex import quote
from typing import Any

from django.urls import reverse

from allocation.logic.counted import counted

Said = tuple[str, str, str, str, str]
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


def troubled_instances(found: list[dict[str, Any]]) -> list[Said]:
    """Level, title, detail, command and screen of each."""
    return [
        (
            "error" if each["trouble"] == "dead" else "warning",
            _title(each),
            DETAILS[each["trouble"]],
            COMMANDS[each["trouble"]].format(id=quote(each["id"])),
            reverse("instance", args=[each["id"]]),
        )
        for each in found
    ]


def _title(each: dict[str, Any]) -> str:
    jobs = counted(each["load"], "job id")
    if each["trouble"] == "dead":
        return f"Instance {each['id']} is dead with {jobs} on it"
    return f"The drain of {each['id']} is {each['trouble']} with {jobs} left"
