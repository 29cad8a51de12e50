"""atributo_site.core.errors."""

from django.db.utils import OperationalError


class AtributoError(Exception):
    """Root of every error that Atributo raises on purpose."""

    status_code = 500
    code = "error"

    def __init__(self, message: str, **facts: object) -> None:
        super().__init__(message)
        self.facts = facts


class InvalidId(AtributoError):
    """A text that cannot name a job or an instance."""

    status_code = 400
    code = "invalid_id"


class LeaseLost(AtributoError):
    """The caller's lease has expired or went to somebody else: it may change nothing more."""

    status_code = 409
    code = "lease_lost"


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
