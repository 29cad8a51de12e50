"""AtributoError, the errors of the way to the site, and those that every address may answer.

The errors of the rooms (NoInstances, CollectionKeyIsLocked, ...) are in `generated/errors.py`.
"""

from typing import Any


class AtributoError(Exception):
    """The root of all errors; `code` is stable, the message is for people."""

    code = "error"

    def __init__(
        self,
        message: str,
        *,
        status: int = 0,
        code: str = "",
        retry_after_seconds: float | None = None,
        **facts: Any,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code or type(self).code
        self.retry_after_seconds = retry_after_seconds
        self.facts = facts


class Unreachable(AtributoError):
    """No connection could be made; nothing was sent."""

    code = "unreachable"


class NoAnswer(AtributoError):
    """The connection broke, or the time ran out, before the answer was whole."""

    code = "no_answer"


class InDoubt(AtributoError):
    """A change may be done or not; look before you send it again."""

    code = "in_doubt"


class NotAtributo(AtributoError):
    """Something answered, but not as an Atributo site does: a wrong address, or a proxy."""

    code = "not_atributo"


class NotYet(AtributoError):
    """What was waited for had not happened when the time was over."""

    code = "not_yet"


class JobFailed(AtributoError):
    """The job that was waited for failed or was aborted; `facts["job"]` has all of it."""

    code = "job_failed"


class StreamEnded(AtributoError):
    """The site ended the event stream: logged out, or the role is gone."""

    code = "bye"


class Malformed(AtributoError):
    code = "malformed"


class Invalid(AtributoError):
    """Values were refused; `facts["errors"]` names them."""

    code = "invalid"


class OutOfRange(AtributoError):
    code = "out_of_range"


class NotAuthenticated(AtributoError):
    """No token came with the request."""

    code = "not_authenticated"


class AuthenticationFailed(NotAuthenticated):
    """The token is wrong, revoked or expired."""

    code = "authentication_failed"


class Forbidden(AtributoError):
    """The role or the level of the token does not allow this."""

    code = "forbidden"


class NotFound(AtributoError):
    code = "not_found"


class TooLarge(AtributoError):
    code = "too_large"


class Conflict(AtributoError):
    code = "conflict"


class Throttled(AtributoError):
    """Too many requests a minute."""

    code = "throttled"


class Busy(AtributoError):
    """The database is away or busy; nothing was written."""

    code = "busy"


class ReadOnly(AtributoError):
    """The database can be read and not written."""

    code = "read_only"


class DiskFull(AtributoError):
    code = "disk_full"


class InternalError(AtributoError):
    """A mistake of the site; `facts["request_id"]` is on its log line."""

    code = "internal_error"
