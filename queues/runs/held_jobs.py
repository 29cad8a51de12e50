"""Wait for workers that hold jobs: a reserved job may begin before its row says so."""

import time
from typing import Any

PATIENCE_SECONDS = 10.0  # a worker reports within hundredths, or its lease is over soon
BRIEFLY_SECONDS = 0.5  # where some of many must not hold up the others
LOOK_SECONDS = 0.005


def wait_for_workers(jobs: Any, patience: float | None = None) -> set[int]:
    """Wait until none of these jobs is held as now; return those whose worker did not answer.

    None of the others begins any more by what a worker has in its memory.
    """
    give_up = time.monotonic() + (PATIENCE_SECONDS if patience is None else patience)
    holds = _holds(jobs)
    while holds and time.monotonic() < give_up:
        time.sleep(LOOK_SECONDS)
        holds &= _holds(jobs)
    return {pk for pk, *_ in holds}


def _holds(jobs: Any) -> set[Any]:
    return set(jobs.reserved().values_list("pk", "slot_id", "slot_epoch", "attempt"))
