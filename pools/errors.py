"""What the screens, REST and commands of this room refuse; the library has its own errors."""

from atributo_site.core.errors import AtributoError


class UnknownPool(AtributoError):
    status_code = 404
    code = "unknown_pool"


class UnknownBackend(AtributoError):
    status_code = 404
    code = "unknown_backend"


class PoolExists(AtributoError):
    status_code = 409
    code = "pool_exists"


class PoolChanged(AtributoError):
    """Somebody changed the pool since the caller looked."""

    status_code = 412
    code = "epoch_changed"


class PoolPaused(AtributoError):
    """Nobody looks up a name that is paused."""

    status_code = 409
    code = "pool_paused"


class AskedTooOften(AtributoError):
    """The name was looked up, or is being looked up, within its TTL floor."""

    status_code = 429
    code = "asked_too_often"

    def __init__(self, message: str, retry_after_seconds: int, **facts: object) -> None:
        super().__init__(message, retry_after_seconds=retry_after_seconds, **facts)
        self.retry_after_seconds = retry_after_seconds


class LookUpsBusy(AtributoError):
    """As many look-ups are under way as this process allows."""

    status_code = 429
    code = "look_ups_busy"
    retry_after_seconds = 1


class CannotLookUp(AtributoError):
    """What was asked for makes no sense, or is not permitted here."""

    status_code = 400
    code = "cannot_look_up"
