"""The actions that a pool asks its surroundings to do."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from pools.logic.backends import Backend
from pools.logic.errors import PoolError


@dataclass(frozen=True, slots=True)
class Connect:
    slot_id: int
    serial: int
    backend: Backend
    timeout_ms: float


@dataclass(frozen=True, slots=True)
class Abandon:
    """Give up this attempt; if it still succeeds, close its connection."""

    slot_id: int
    serial: int


@dataclass(frozen=True, slots=True)
class Close:
    """Close the connection and report `closed`; `slot_id` is None for a late orphan."""

    slot_id: int | None
    connection: Any


@dataclass(frozen=True, slots=True)
class Check:
    slot_id: int
    connection: Any


class Grant(NamedTuple):
    """Give a connection to a waiting claim; it is made for each of them, so it must be cheap."""

    holder: Any
    slot: Any


@dataclass(frozen=True, slots=True)
class Refuse:
    holder: Any
    error: PoolError


@dataclass(frozen=True, slots=True)
class Revoke:
    """End the lease although nobody released it."""

    holder: Any
    reason: str


@dataclass(frozen=True, slots=True)
class Unwanted:
    """Tell a connection in use, if it wants to know, that it will be closed when it is free."""

    connection: Any


@dataclass(frozen=True, slots=True)
class Advertise:
    """Announce a working connection of a set; `holder` is its key from now on."""

    holder: str
    slot: Any


@dataclass(frozen=True, slots=True)
class Withdraw:
    """Ask the user of a set to let a connection go."""

    holder: str
    slot: Any


@dataclass(frozen=True, slots=True)
class PoolStateChanged:
    state: str


@dataclass(frozen=True, slots=True)
class BackendDied:
    """Ask the resolver again, too: perhaps the name points elsewhere by now."""

    backend: Backend
    error: BaseException | None


@dataclass(frozen=True, slots=True)
class BackendLives:
    """A backend that was dead works again."""

    backend: Backend


PoolAction = (
    Connect
    | Abandon
    | Close
    | Check
    | Grant
    | Refuse
    | Revoke
    | Unwanted
    | Advertise
    | Withdraw
    | PoolStateChanged
    | BackendDied
    | BackendLives
)
