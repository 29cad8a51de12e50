"""Errors of allocation. Each has an HTTP status and a stable code that programs may test."""

from math import ceil, inf

from atributo_site.core.errors import AtributoError


class InvalidSetting(AtributoError):
    """No instance can have this setting, reason or pace."""

    status_code = 400
    code = "invalid_wish"


class NoInstances(AtributoError):
    """No instance is available, or none has room; nothing was stored."""

    status_code = 409
    code = "no_instances"


class NoInstanceAvailable(NoInstances):
    """No available instance has the labels that the job asks for; nothing was stored."""

    code = "no_instance_available"


class AllocatorError(AtributoError):
    """An allocator answered with something that is no available instance."""

    status_code = 500
    code = "allocator_error"


class Closed(AtributoError):
    """The object was closed."""

    status_code = 409
    code = "closed"


class UnknownInstance(AtributoError):
    status_code = 404
    code = "unknown_instance"


class UnknownJob(AtributoError):
    """The key is allocated to no instance."""

    status_code = 404
    code = "unknown_job"


class UnknownPosition(AtributoError):
    """The changes after this position are not (or no longer) known here."""

    status_code = 410
    code = "unknown_position"


class EpochChanged(AtributoError):
    """The row was changed after the caller read it."""

    status_code = 412
    code = "epoch_changed"


class Outranked(AtributoError):
    """A person decided otherwise, and programs do not undo that."""

    status_code = 409
    code = "outranked"


class InstanceHeld(AtributoError):
    """Jobs or other users still hold the instance."""

    status_code = 409
    code = "instance_held"


class NotDraining(AtributoError):
    """There is no drain of this instance to stop, to force or to watch."""

    status_code = 409
    code = "not_draining"


class Rebalancing(AtributoError):
    """A rebalance runs already."""

    status_code = 409
    code = "rebalancing"


class NotRebalancing(AtributoError):
    """There is no rebalance to stop."""

    status_code = 409
    code = "not_rebalancing"


class BadNumbering(AtributoError):
    """The worker number or the cluster size cannot be used here."""

    status_code = 409
    code = "bad_numbering"


class NoJobIdYet(AtributoError):
    """The same call may succeed in `wait_seconds`."""

    status_code = 503
    retry_after_seconds = 1
    patience_seconds = inf

    def __init__(self, message: str, wait_seconds: float) -> None:
        super().__init__(message)
        self.wait_seconds = wait_seconds


class NoWorkerNumber(NoJobIdYet):
    """Every worker number for job ids is taken."""

    code = "no_worker_number"
    patience_seconds = 2.0


class TooManyJobIds(NoJobIdYet):
    """This process has made ids so far ahead of the clock that it must wait for it."""

    code = "too_many_job_ids"

    def __init__(self, message: str, wait_seconds: float) -> None:
        super().__init__(message, wait_seconds)
        self.retry_after_seconds = max(1, ceil(wait_seconds))


class InvalidJobId(AtributoError):
    """The text is not a job id of this format."""

    status_code = 400
    code = "invalid_job_id"
