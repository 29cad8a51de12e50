"""The life of every slot: connect, rest, serve, be checked, fail, try again, go."""

import itertools
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

from pools.logic.backends import Backend
from pools.logic.errors import CheckFailedError, ConnectionClosedError, ConnectionTimeoutError
from pools.logic.pool.actions import Abandon, Check, Close, Connect, Unwanted
from pools.logic.pool.slot import (
    BUSY,
    CHECKING,
    CLOSING,
    CONNECTING,
    IDLE,
    PROVING,
    RESTING,
    RETRYING,
    Slot,
)

if TYPE_CHECKING:
    from pools.logic.pool.pool import PoolMachine


class Slots:
    def __init__(self, pool: "PoolMachine", chance: Callable[[], float]) -> None:
        self._pool = pool
        self._chance = chance
        self._slots: dict[int, Slot] = {}
        self.resting: dict[int, Slot] = {}  # some of them may have gone on meanwhile
        self.total = 0
        self._ids = itertools.count(1)

    def __len__(self) -> int:
        return self.total

    def all(self) -> Collection[Slot]:
        return self._slots.values()

    def of(self, key: str) -> list[Slot]:
        return [slot for slot in self._slots.values() if slot.key == key]

    # -- connecting --------------------------------------------------------------------------

    def open(self, backend: Backend, now: float) -> None:
        is_known = backend.key in self._pool.roster.succeeded
        recovery = self._pool.config.recovery.operation("connect" if is_known else "initial")
        is_monitor = backend.key in self._pool.roster.dead
        slot = Slot(next(self._ids), backend, recovery, is_monitor)
        self._slots[slot.id] = slot
        self.total += 1
        self._connect(slot, now)

    def _connect(self, slot: Slot, now: float) -> None:
        slot.attempt += 1
        slot.serial += 1
        slot.state = CONNECTING
        slot.proven = False
        timeout_ms = slot.recovery.timeout_ms(slot.attempt)
        self._pool.timers.set(("connect", slot.id), now + timeout_ms)
        self._pool.actions.append(Connect(slot.id, slot.serial, slot.backend, timeout_ms))

    def connected(self, slot_id: int, serial: int, connection: Any, now: float) -> None:
        slot = self._awaiting(slot_id, serial)
        if slot is None:
            self._pool.actions.append(Close(None, connection))
            return
        self._pool.timers.cancel(("connect", slot.id))
        slot.connection = connection
        slot.connected_at = now
        if slot.doomed is not None:
            self.retire(slot, now)
            return
        death = self._pool.roster.dead.get(slot.key)
        if death is None or death.kind == "connect":
            self._ready(slot, now)
        elif death.kind == "check":
            self._check(slot, PROVING, now)
        else:
            slot.state = PROVING
            self._pool.timers.set(("proof", slot.id), now + self._pool.config.stable_after)

    def connect_failed(self, slot_id: int, serial: int, error: BaseException, now: float) -> None:
        slot = self._awaiting(slot_id, serial)
        if slot is not None:
            self._pool.timers.cancel(("connect", slot.id))
            self._pool.counters["error-during-connect"] += 1
            self._retry(slot, "connect", error, now)

    def _awaiting(self, slot_id: int, serial: int) -> Slot | None:
        slot = self._slots.get(slot_id)
        if slot is None or slot.serial != serial or slot.state != CONNECTING:
            return None
        return slot

    def _ready(self, slot: Slot, now: float) -> None:
        """Let the connection serve; whether it lasts is not proven yet."""
        if slot.proven:
            slot.attempt = 0
        else:
            self._pool.timers.set(("proof", slot.id), now + self._pool.config.stable_after)
        self._revive(slot)
        self._pool.become_idle(slot, now)

    def _revive(self, slot: Slot) -> None:
        slot.is_monitor = False
        slot.recovery = self._pool.config.recovery.operation("connect")
        self._pool.backend_lives(slot.key)

    def prove(self, slot: Slot) -> None:
        """Forget earlier failures, because the connection served or lasted."""
        slot.proven = True
        slot.attempt = slot.rests = 0
        self._pool.roster.trusted.add(slot.key)
        self._pool.timers.cancel(("proof", slot.id))
        self._pool.roster.outliers.succeeded(slot.key)

    # -- failing -----------------------------------------------------------------------------

    def _retry(self, slot: Slot, kind: str, error: BaseException, now: float) -> None:
        if slot.doomed is not None:
            self._gone(slot)
            return
        slot.last_error = error
        self._pool.last_error = error
        if slot.attempt < slot.recovery.attempts:
            slot.state = RETRYING
            delay_ms = slot.recovery.delay_ms(max(1, slot.attempt), self._chance())
            self._pool.timers.set(("retry", slot.id), now + delay_ms)
            self._pool.shape.want_rebalance()
            return
        self._pool.counters["retries-exhausted"] += 1
        self._gone(slot)
        if not any(other.is_connected for other in self.of(slot.key)):
            self._pool.backend_died(slot.backend, kind, error, now)

    def lost(self, slot_id: int, connection: Any, error: BaseException | None, now: float) -> None:
        """Handle a connection that the peer closed or that broke."""
        slot = self._slots.get(slot_id)
        if slot is None or slot.connection is not connection or slot.state == CLOSING:
            return
        if slot.state == BUSY and slot.doomed is None:
            self._pool.became_doomed(slot)
        slot.doomed = slot.doomed or ("closed" if error is None else "error")
        slot.last_error = error
        if error is not None:
            where = "claimed" if slot.state == BUSY else "connected"
            self._pool.counters[f"error-while-{where}"] += 1
        if slot.state == PROVING or self.take_out(slot):
            self.retire(slot, now)

    def take_out(self, slot: Slot) -> bool:
        """Take a slot out of the idle ones; False if it is not among them, or a claim was faster.

        A claim takes a slot without the lock, and a moment later it is busy.
        """
        try:
            self._pool.idle.remove(slot)
        except ValueError:
            return False
        return True

    def retire(self, slot: Slot, now: float) -> None:
        """Close a connection; then reconnect at once, try again later, or go, as `doomed` says."""
        if slot.doomed == "unwanted" or self._pool.state == "stopping":
            slot.next_step = "go"
        elif slot.doomed == "closed" and slot.proven:
            slot.next_step = "connect"
        elif slot.doomed == "closed" and self._is_spared(slot, now):
            slot.next_step = "rest"
        else:
            slot.next_step = "retry"
        slot.state = CLOSING
        slot.lease.clear()
        slot.holder = None
        for event in ("proof", "checking", "recheck"):
            self._pool.timers.cancel((event, slot.id))
        self._pool.actions.append(Close(slot.id, slot.connection))

    def _is_spared(self, slot: Slot, now: float) -> bool:
        """Return whether its server only closes what is not used; then it lives."""
        is_lasting = now - slot.connected_at >= self._pool.config.flap_limit
        if slot.state == PROVING and is_lasting:
            self._revive(slot)
        return is_lasting or slot.key in self._pool.roster.trusted

    def closed(self, slot_id: int, now: float) -> None:
        slot = self._slots.get(slot_id)
        if slot is None or slot.state != CLOSING:
            return
        slot.connection, slot.doomed = None, None
        if slot.next_step == "connect":
            self._connect(slot, now)
        elif slot.next_step == "rest":
            self._rest(slot, now)
        elif slot.next_step == "retry":
            text = f"{slot.backend.where} closed the connection"
            closed = ConnectionClosedError(text, backend=slot.backend)
            self._retry(slot, "flap", slot.last_error or closed, now)
        else:
            self._gone(slot)

    def _rest(self, slot: Slot, now: float) -> None:
        """Connect later, or when a claim waits: the server closes connections that are not used.

        That is no failure, but reconnecting at once would go on for ever.
        """
        slot.rests += 1
        slot.attempt = 0
        slot.state = RESTING
        self.resting[slot.id] = slot
        paces = int(max(1, min(slot.rests, slot.recovery.retries)))
        delay_ms = slot.recovery.delay_ms(paces, self._chance())
        self._pool.timers.set(("retry", slot.id), now + delay_ms)
        if self._pool.queue.waiting:
            self.wake_resting(now)

    def wake_resting(self, now: float) -> None:
        """Connect for the claims that wait, as far as no others connect for them already."""
        resting = [slot for slot in self.resting.values() if slot.state == RESTING]
        self.resting.clear()
        opening = sum(slot.state == CONNECTING for slot in self._slots.values())
        for slot in resting[: max(0, len(self._pool.queue) - opening)]:
            self._pool.timers.cancel(("retry", slot.id))
            self._connect(slot, now)
        self.resting |= {slot.id: slot for slot in resting if slot.state == RESTING}

    # -- going -------------------------------------------------------------------------------

    def give_up(self, slot: Slot, now: float) -> None:
        """Give up a slot that is one too many, when its lease or its attempt has ended."""
        slot.next_step = "go"
        if slot.state == CONNECTING:  # its place is taken until the attempt has ended
            slot.doomed = "unwanted"
        elif slot.state in (RETRYING, RESTING):
            self._gone(slot)
        elif slot.state != CLOSING:
            if slot.state == BUSY and slot.doomed is None:
                self._pool.became_doomed(slot)
            slot.doomed = "unwanted"
            if slot.state == PROVING or self.take_out(slot):
                self.retire(slot, now)
            elif slot.state in (IDLE, BUSY):
                self._pool.actions.append(Unwanted(slot.connection))

    def give_up_backend(self, key: str, now: float) -> None:
        for slot in self.of(key):
            self.give_up(slot, now)

    def give_up_all(self, now: float) -> None:
        for slot in list(self._slots.values()):
            self.give_up(slot, now)

    def _gone(self, slot: Slot) -> None:
        del self._slots[slot.id]
        self.resting.pop(slot.id, None)
        self.total -= 1
        self._pool.claims += slot.claims
        for event in ("connect", "retry", "proof", "checking", "recheck"):
            self._pool.timers.cancel((event, slot.id))
        self._pool.shape.want_rebalance()
        self._pool.stop_if_empty()

    # -- checks ------------------------------------------------------------------------------

    def check_idle(self, now: float) -> None:
        """Check every connection that has rested long enough."""
        rest_ms = self._pool.config.check_timeout or 0.0
        for slot in [s for s in self._pool.idle.copy() if now - s.idle_since >= rest_ms]:
            if self.take_out(slot):
                self._check(slot, CHECKING, now)

    def _check(self, slot: Slot, state: str, now: float) -> None:
        limit_ms = self._pool.config.check_limit or slot.recovery.timeout
        slot.state = state
        self._pool.timers.set(("checking", slot.id), now + limit_ms)
        self._pool.actions.append(Check(slot.id, slot.connection))

    def checked(
        self,
        slot_id: int,
        connection: Any,
        error: BaseException | None,
        now: float,
        is_over: bool = False,
    ) -> None:
        """Handle the end of a check; `error` says what it found.

        `is_over` is for a good answer after which the server closed the connection.
        """
        slot = self._slots.get(slot_id)
        if slot is None or slot.connection is not connection:
            return
        if ("checking", slot_id) not in self._pool.timers:
            return
        self._pool.timers.cancel(("checking", slot_id))
        if is_over and error is None:
            slot.doomed = slot.doomed or "closed"
        if error is not None:
            self._check_failed(slot, error, now)
        elif slot.state == CHECKING:
            self._check_passed(slot, now)
        elif self._pool.roster.health.passed(slot.key):
            slot.proven = True
            self._trusted(slot, now)
        elif slot.doomed is not None:
            slot.proven = True
            self.retire(slot, now)
        else:
            pause_ms = slot.recovery.delay_ms(1, self._chance())
            self._pool.timers.set(("recheck", slot.id), now + pause_ms)

    def _trusted(self, slot: Slot, now: float) -> None:
        if slot.doomed is None:
            self._ready(slot, now)
        else:
            self._pool.backend_lives(slot.key)
            self.retire(slot, now)

    def _check_passed(self, slot: Slot, now: float) -> None:
        self._pool.roster.health.passed(slot.key)
        self.prove(slot)
        if slot.doomed is not None:
            self.retire(slot, now)
        else:
            self._pool.become_idle(slot, now)

    def _check_failed(self, slot: Slot, error: BaseException, now: float) -> None:
        self._pool.counters["check-failed"] += 1
        slot.last_error = error
        is_fallen = self._pool.roster.health.failed(slot.key)
        slot.proven = slot.state == CHECKING
        slot.doomed = slot.doomed or "closed"
        if is_fallen and slot.state == CHECKING:
            slot.doomed = "unwanted"
            self.retire(slot, now)
            self.give_up_backend(slot.key, now)
            self._pool.backend_died(slot.backend, "check", error, now)
        else:
            self.retire(slot, now)

    # -- time --------------------------------------------------------------------------------

    def fire(self, event: str, slot_id: int, now: float) -> None:
        slot = self._slots[slot_id]
        if event == "connect":
            self._connect_timed_out(slot, now)
        elif event == "retry":
            self._connect(slot, now)
        elif event == "checking":
            backend = slot.backend
            late = CheckFailedError(f"check of {backend.where} took too long", backend=backend)
            self._check_failed(slot, late, now)
        elif event == "recheck":
            self._check(slot, PROVING, now)
        elif event == "proof":
            self._lasted(slot, now)

    def _connect_timed_out(self, slot: Slot, now: float) -> None:
        self._pool.counters["timeout-during-connect"] += 1
        self._pool.actions.append(Abandon(slot.id, slot.serial))
        backend = slot.backend
        error = ConnectionTimeoutError(
            f"{backend.where} did not connect within {slot.recovery.timeout_ms(slot.attempt):g}ms",
            backend=backend,
        )
        self._retry(slot, "connect", error, now)

    def _lasted(self, slot: Slot, now: float) -> None:
        was_proving = slot.state == PROVING
        self.prove(slot)
        if was_proving:
            self._ready(slot, now)
