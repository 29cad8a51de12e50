"""Results that came too late: counted, and otherwise without effect."""

import structlog
from django.db import Error as DatabaseError

from allocation.events import record
from queues.slots import HeldSlot

log = structlog.get_logger(__name__)


def count_refused(slot: HeldSlot, results: int) -> None:
    """Tell that somebody aborted, deleted or took over what this worker still ran."""
    if not results:
        return
    log.warning("late_results_refused", queue=slot.queue, results=results)
    try:
        record("run.refused", f"queue:{slot.queue}", using=slot.using, results=results)
    except DatabaseError:
        log.warning("refusal_not_recorded")
