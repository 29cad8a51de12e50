"""What a pool asks its surroundings to do."""

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
    """Nobody waits for this attempt any more; if it still succeeds, close what it brings."""

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
    """The one action that is made for every claim that waited, so it is a cheap one."""

    holder: Any
    slot: Any


@dataclass(frozen=True, slots=True)
class Refuse:
    holder: Any
    error: PoolError


@dataclass(frozen=True, slots=True)
class Revoke:
    """The lease is over although nobody released it."""

    holder: Any
    reason: str


@dataclass(frozen=True, slots=True)
class Advertise:
    """A connection of a set works; `holder` is its key from now on."""

    holder: str
    slot: Any


@dataclass(frozen=True, slots=True)
class Withdraw:
    """A connection of a set is to be let go."""

    holder: str
    slot: Any


@dataclass(frozen=True, slots=True)
class PoolStateChanged:
    state: str


@dataclass(frozen=True, slots=True)
class ResolveNow:
    """A backend died: perhaps the name points elsewhere by now."""


PoolAction = (
    Connect
    | Abandon
    | Close
    | Check
    | Grant
    | Refuse
    | Revoke
    | Advertise
    | Withdraw
    | PoolStateChanged
    | ResolveNow
)
