"""What a schedule does when a run meets the one before it, an outage or failures."""

from datetime import datetime, timedelta
from enum import StrEnum
from hashlib import sha256


class Overlap(StrEnum):
    """What happens to a run that is due while an earlier one is unfinished."""

    SKIP = "skip"
    QUEUE_ONE = "queue_one"  # one waits, further ones are skipped
    QUEUE_ALL = "queue_all"
    BESIDE = "beside"
    CANCEL = "cancel"  # the earlier one is aborted


class Decision(StrEnum):
    PUSH = "push"
    WAIT = "wait"
    SKIP = "skip"


OVERLAP_SAID = {
    Overlap.SKIP: "skip the new run",
    Overlap.QUEUE_ONE: "let one run wait",
    Overlap.QUEUE_ALL: "let all runs wait",
    Overlap.BESIDE: "run beside the earlier one",
    Overlap.CANCEL: "cancel the earlier run",
}


def on_overlap(policy: Overlap, unfinished: int, waiting: int) -> Decision:
    """Decide about a due run: how many runs were pushed and are unfinished, how many wait."""
    if not unfinished and not waiting:
        return Decision.PUSH
    if policy in (Overlap.BESIDE, Overlap.CANCEL):
        return Decision.PUSH
    if policy is Overlap.QUEUE_ALL or (policy is Overlap.QUEUE_ONE and not waiting):
        return Decision.WAIT
    return Decision.SKIP


def jitter(schedule_id: int, slot_at: datetime, jitter_ms: int) -> timedelta:
    """Return how much later this run begins: the same for the same run, whoever computes it."""
    if not jitter_ms:
        return timedelta()
    digest = sha256(f"{schedule_id} {slot_at.timestamp()}".encode()).digest()
    return timedelta(milliseconds=int.from_bytes(digest[:8], "big") % (jitter_ms + 1))


def catch_up_from(now: datetime, catch_up_ms: int) -> datetime:
    """Return the earliest slot that is caught up on; the runs before it are missed."""
    return now - timedelta(milliseconds=catch_up_ms)
