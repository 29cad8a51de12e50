"""Job ids: unique in the cluster, growing in each process, readable for people."""

import os

from django.conf import settings

from allocation.errors import InvalidJobId
from allocation.job_ids.generator import MOST_IDS, Generator
from allocation.logic import job_ids as digits
from allocation.logic.job_ids import ParsedId

__all__ = ["MOST_IDS", "Generator", "get_job_id", "get_job_ids", "parse", "release"]
WEB_PATIENCE_SECONDS = 1.0  # other requests wait for the thread

_generator: Generator | None = None


def get_job_id() -> str:
    """Return a new id; wait if this process has made more than one per millisecond for a while."""
    return _this_process().get_job_id()


def get_job_ids(n: int) -> list[str]:
    return _this_process().get_job_ids(n)


def parse(job_id: str | int) -> ParsedId:
    """Return the time, worker number and cluster size of an id."""
    try:
        return digits.parse(job_id)
    except ValueError as error:
        raise InvalidJobId(str(error)) from error


def release() -> None:
    """Give the worker number back, on a clean stop of a process that made ids."""
    if _generator is not None:
        _generator.release()


def wait_at_most(seconds: float) -> None:
    """Limit the wait in a process whose threads others need, such as a web server."""
    _this_process().patience_seconds = seconds


def _this_process() -> Generator:
    global _generator
    if _generator is None:
        ours = settings.ATRIBUTO
        _generator = Generator(ours.worker_id, ours.cluster_size, ours.id_lead_ms)
    return _generator


def _after_fork() -> None:
    if _generator is not None:
        _generator.forked()


os.register_at_fork(after_in_child=_after_fork)
