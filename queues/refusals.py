"""Results that came too late: counted, and otherwise without effect."""

from allocation.fencing import count_fenced
from queues.slots import HeldSlot


def count_refused(slot: HeldSlot, results: int) -> None:
    """Tell that somebody aborted, deleted or took over what this worker still ran."""
    if not results:
        return
    count_fenced("run", f"queue:{slot.queue}", times=results, results=results)
