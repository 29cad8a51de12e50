"""Errors that callers meet. Each has an HTTP status and a stable code that programs may test."""


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
