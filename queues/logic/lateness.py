"""How late a queue is: the age of its oldest due job beside the age that is still fine."""

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
