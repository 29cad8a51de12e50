"""How an instance becomes available again, and what each way means."""

from dataclasses import dataclass

from allocation.availability import MANUAL, RESTORED_SECONDS
from allocation.models import Instance

DECIDERS = {Instance.Source.DNS: "DNS", Instance.Source.WORKER: "its worker"}


@dataclass(frozen=True)
class WayBack:
    verb: str
    label: str
    sentence: str


def ways_back(row: Instance) -> list[WayBack]:
    """One where both would do the same."""
    if row.available:
        return []
    ends = " The drain ends." if row.state == "draining" else ""
    again = f"It may get new job ids again.{ends}"
    if row.origin == MANUAL and row.lease_until is None:
        return [WayBack("restore", "Restore", again)]
    return [
        WayBack("restore", "Restore", f"{again} {_handed_back(row)}"),
        WayBack("available", "Make available", f"{again} {_kept(row)}"),
    ]


def _handed_back(row: Instance) -> str:
    if row.lease_until is not None:
        return f"It needs a heartbeat within {RESTORED_SECONDS} seconds."
    return f"From then on {DECIDERS[Instance.Source(row.origin)]} decides."


def _kept(row: Instance) -> str:
    if row.lease_until is not None:
        return "It needs no heartbeat."
    return f"You have decided: {DECIDERS[Instance.Source(row.origin)]} cannot undo it."
