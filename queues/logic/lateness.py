"""How late a queue is: the age of its oldest due job beside the age that is still fine."""

from dataclasses import dataclass
from enum import StrEnum

TARGET_AGE_SECONDS = 30  # of queues that have none of their own
VERY = 3  # times the target age


class Lateness(StrEnum):
    FINE = "fine"
    LATE = "late"
    VERY_LATE = "very late"


def lateness(
    oldest_seconds: float | None, own_seconds: int | None, is_paused: bool = False
) -> Lateness | None:
    """Return None where there is nothing to judge: no job is due, or a person paused the queue."""
    if oldest_seconds is None or is_paused:
        return None
    target = target_age(own_seconds)
    if oldest_seconds > VERY * target:
        return Lateness.VERY_LATE
    return Lateness.LATE if oldest_seconds > target else Lateness.FINE


def target_age(own_seconds: int | None) -> int:
    return TARGET_AGE_SECONDS if own_seconds is None else own_seconds


def needs_a_look(late: Lateness | None, own_seconds: int | None, running: int) -> bool:
    """Count a target that somebody set while workers are busy, too, but not the default."""
    if late is None or late is Lateness.FINE:
        return False
    return own_seconds is not None or not running


@dataclass(frozen=True)
class Late:
    """Why the oldest job of a queue still waits, and what it needs."""

    sentence: str
    needs: str  # worker, slots, limit or instance
    instance: str | None = None


def why_late(
    *,
    running: int,
    max_workers: int,
    workers: int,
    is_sticky: bool = False,
    instance: str | None = None,
    is_served: bool = False,
    waits_for: str = "",
) -> Late:
    """Name the first reason that holds; a paused queue is never late."""
    if is_sticky and instance is None:
        return Late("No instance is available for the key of its oldest job.", "instance")
    if is_sticky and not is_served:
        return Late(
            f"No worker serves {instance}, where its oldest job must run.", "instance", instance
        )
    if waits_for and not is_sticky:
        return Late(f"A limit holds its jobs: {waits_for}.", "limit")
    if running >= max_workers:
        slots = "its only slot is" if max_workers == 1 else f"all {max_workers} of its slots are"
        return Late(f"The limit is reached: {slots} in use.", "slots")
    if is_sticky:
        return Late(f"The workers of {instance} are busy, or its key is.", "instance", instance)
    if not workers:
        return Late("No worker runs.", "worker")
    if not running:
        return Late("No worker has taken it: those that run are busy with other queues.", "worker")
    return Late(f"{running} of {max_workers} slots are in use, and no worker is free.", "worker")
