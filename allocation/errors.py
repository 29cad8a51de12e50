"""Errors that callers meet. Each has an HTTP status and a stable code that programs may test."""

from math import ceil, inf

from django.db.utils import OperationalError


class AtributoError(Exception):
    """Root of every error that Atributo raises on purpose."""

    status_code = 500
    code = "error"

    def __init__(self, message: str, **facts: object) -> None:
        super().__init__(message)
        self.facts = facts


class LeaseLost(AtributoError):
    """The caller's lease has expired or went to somebody else: it may change nothing more."""

    status_code = 409
    code = "lease_lost"


class InvalidId(AtributoError):
    """A text that cannot name a job or an instance."""

    status_code = 400
    code = "invalid_id"


class InvalidWish(AtributoError):
    """A setting, a reason or a pace that no instance can have."""

    status_code = 400
    code = "invalid_wish"


class NoInstances(AtributoError):
    """No instance is available, or none has room; nothing was stored."""

    status_code = 409
    code = "no_instances"


class AllocatorError(AtributoError):
    """An allocator answered with something that is no available instance."""

    status_code = 500
    code = "allocator_error"


class Closed(AtributoError):
    """The object was closed."""

    status_code = 409
    code = "closed"


class DatabaseBusy(AtributoError):
    """The database stayed busy until the deadline; the call may be repeated."""

    status_code = 503
    code = "database_busy"
    retry_after_seconds = 1
    inside_transaction = False  # it was tried once: only who began the transaction can repeat it


class ConnectionLost(AtributoError, OperationalError):
    """The next call opens another connection. Nothing was written, unless `in_doubt`."""

    status_code = 503
    code = "connection_lost"

    def __init__(self, message: str, *, in_doubt: bool, **facts: object) -> None:
        super().__init__(message, in_doubt=in_doubt, **facts)
        self.in_doubt = in_doubt


class UnknownInstance(AtributoError):
    status_code = 404
    code = "unknown_instance"


class UnknownJob(AtributoError):
    """The job id is allocated to no instance."""

    status_code = 404
    code = "unknown_job"


class EpochChanged(AtributoError):
    """Somebody changed it since the caller looked."""

    status_code = 412
    code = "epoch_changed"


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
    """Worker number or cluster size that cannot be used here."""

    status_code = 409
    code = "bad_numbering"


class NoJobIdYet(AtributoError):
    """The same call may succeed in `wait_seconds`; some is not worth the whole patience."""

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
    """Not a job id of this format."""

    status_code = 400
    code = "invalid_job_id"
