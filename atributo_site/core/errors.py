"""The errors of the kernel, and AtributoError, the root of every error of ours."""

from django.db.utils import OperationalError


class AtributoError(Exception):
    """The root of every error that Atributo raises on purpose."""

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
    """The lease has expired or somebody else has it: the caller may change nothing more."""

    status_code = 409
    code = "lease_lost"


class DatabaseBusy(AtributoError):
    """The database stayed busy until the deadline; the caller may try again."""

    status_code = 503
    code = "database_busy"
    retry_after_seconds = 1
    inside_transaction = False  # tried once: only the code that began the transaction can repeat it


class ConnectionLost(AtributoError, OperationalError):
    """The connection is lost; nothing was written unless `in_doubt`. The next call reconnects."""

    status_code = 503
    code = "connection_lost"

    def __init__(self, message: str, *, in_doubt: bool, **facts: object) -> None:
        super().__init__(message, in_doubt=in_doubt, **facts)
        self.in_doubt = in_doubt


class DatabaseRefused(ConnectionLost):
    """The database does not exist, or it does not let this user in: to try again is no use."""

    code = "database_refused"
