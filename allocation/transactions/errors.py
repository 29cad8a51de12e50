"""Errors of documents and transactions, each with an HTTP status and a stable code."""

from datetime import datetime

from atributo_site.core.errors import AtributoError


class DocumentNotFound(AtributoError):
    status_code = 404
    code = "document_not_found"


class PreconditionFailed(AtributoError):
    """The key has another ref than the caller expects, or exists already."""

    status_code = 412
    code = "precondition_failed"


class InvalidDocument(AtributoError):
    """The name, value, patch or query cannot be used."""

    status_code = 400
    code = "invalid_document"


class SecretField(AtributoError):
    """The search would reveal what the caller may not read."""

    status_code = 403
    code = "secret_field"


class TransactionNotFound(AtributoError):
    status_code = 404
    code = "transaction_not_found"


class ForeignTransaction(AtributoError):
    """Another caller began the transaction, or a program of the site."""

    status_code = 403
    code = "foreign_transaction"


class LockNotFound(AtributoError):
    status_code = 404
    code = "lock_not_found"


class KeyIsContended(AtributoError):
    """Others change the key faster than the reason of a refusal can be read."""

    status_code = 503
    code = "key_is_contended"


class CollectionKeyIsLocked(AtributoError):
    """Another transaction holds the key."""

    status_code = 423
    code = "locked"

    def __init__(
        self,
        collection: str,
        key: str,
        holder: int | None,
        expires: datetime | None,
        owner: str = "",
    ) -> None:
        by = f"by transaction {holder}" if holder else "for a while after a dead holder"
        by = f"{by} of {owner}" if owner else by
        super().__init__(
            f"{collection}/{key} is locked {by}",
            collection=collection,
            key=key,
            holder=holder,
            expires=expires,
        )
        self.collection = collection
        self.key = key
        self.holder = holder
        self.expires = expires


class DeadlockDetected(CollectionKeyIsLocked):
    """Transactions wait for each other in a circle, and this one gives way."""

    code = "deadlock"


class RollbackCausedByException(AtributoError):
    """The transaction was rolled back because one of its operations failed."""

    status_code = 409
    code = "rolled_back_by_error"

    def __init__(self, exception: BaseException, stacktrace: str) -> None:
        facts = exception.facts if isinstance(exception, AtributoError) else {}
        code = getattr(exception, "code", "error")
        super().__init__(f"rolled back because: {exception}", **{**facts, "cause": code})
        self.status_code = _status(exception)
        self.exception_causing_rollback = exception
        self.stacktrace_causing_rollback = stacktrace


def _status(exception: BaseException) -> int:
    """Return the status of the cause, so that a locked key is 423 here, too."""
    return exception.status_code if isinstance(exception, AtributoError) else 409


class FailedToRollBack(AtributoError):
    """The rollback itself failed; the curator finishes it."""

    status_code = 500
    code = "failed_to_roll_back"

    def __init__(
        self,
        failing: BaseException,
        failing_stacktrace: str,
        causing: BaseException | None = None,
        causing_stacktrace: str | None = None,
    ) -> None:
        super().__init__(f"the rollback failed: {failing}", cause=str(failing))
        self.exception_failing_rollback = failing
        self.stacktrace_failing_rollback = failing_stacktrace
        self.exception_causing_rollback = causing
        self.stacktrace_causing_rollback = causing_stacktrace


class JournalDamaged(AtributoError):
    """A line of the journal cannot be trusted, so nothing is restored by it."""

    status_code = 500
    code = "journal_damaged"


class FailedToComplete(AtributoError):
    """Nothing is or will be committed, unless `in_doubt`: then the database did not answer."""

    status_code = 500
    code = "failed_to_complete"

    def __init__(self, exception: BaseException, stacktrace: str, *, in_doubt: bool) -> None:
        state = "may be completed or not" if in_doubt else "was not completed"
        super().__init__(
            f"the transaction {state}: {exception}", cause=str(exception), in_doubt=in_doubt
        )
        self.exception_failing_completion = exception
        self.stacktrace_failing_completion = stacktrace
        self.in_doubt = in_doubt

    def doubted(self) -> "FailedToComplete":
        why = self.exception_failing_completion, self.stacktrace_failing_completion
        return FailedToComplete(*why, in_doubt=True)


class TransactionIsOver(AtributoError):
    """The transaction cannot be used any more."""

    status_code = 409
    code = "transaction_is_over"
    taken_over = False  # somebody else ended it, and a late write was refused


class JobIsCompleted(TransactionIsOver):
    code = "transaction_is_completed"


class JobIsRolledBack(TransactionIsOver):
    code = "transaction_is_rolled_back"


class JobIsFailed(TransactionIsOver):
    code = "transaction_is_failed"


class JobIsTimedOut(TransactionIsOver):
    code = "transaction_is_timed_out"
