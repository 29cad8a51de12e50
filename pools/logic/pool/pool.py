"""A pool of connections as a machine: events and the time go in, actions come out."""

import math
from collections import Counter, deque
from collections.abc import Callable
from typing import Any

from pools.logic.backends import Backend
from pools.logic.errors import (
    ClaimTimeoutError,
    NoBackendsError,
    PoolError,
    PoolFailedError,
    PoolStoppingError,
)
from pools.logic.pool.actions import (
    BackendDied,
    BackendLives,
    Grant,
    PoolAction,
    PoolStateChanged,
    Refuse,
    Revoke,
)
from pools.logic.pool.claims import ClaimQueue
from pools.logic.pool.config import PoolConfig
from pools.logic.pool.plain_path import PlainPath
from pools.logic.pool.roster import Death, Roster
from pools.logic.pool.sizing import Shape
from pools.logic.pool.slot import BUSY, IDLE, Slot
from pools.logic.pool.slots import Slots
from pools.logic.pool.strategies import Balancer, chosen
from pools.logic.timers import Timers


class PoolMachine:
    """Not thread-safe; the driver holds a lock and does what `take` returns."""

    is_singleton = False

    def __init__(self, config: PoolConfig, chance: Callable[[], float]) -> None:
        self.config = config
        self.state = "starting"
        self.plain = PlainPath(self)
        self.counters: Counter[str] = Counter()
        self.claims = 0  # of slots that are gone, and those that wait; a slot counts its own
        self.last_error: BaseException | None = None
        self.wants_tick = False
        self.timers = Timers()
        self.roster = Roster(config, chance)
        self.queue = ClaimQueue(self.timers, config.max_waiting, config.target_claim_delay)
        self.actions: list[PoolAction] = []
        self.idle: deque[Slot] = deque()
        self.slots = Slots(self, chance)
        self.shape = Shape(self)
        self.balancer: Balancer | None = None
        self._is_open = True
        self._spares, self.maximum = config.spares, config.maximum
        self._chance = chance
        self._choose_balancer()

    @property
    def name(self) -> str:
        return f"pool {self.config.domain}" if self.config.domain else "the pool"

    # -- claims ------------------------------------------------------------------------------

    def claim(
        self,
        holder: Any,
        now: float,
        timeout_ms: float | None = None,
        error_on_empty: bool = False,
    ) -> Slot | None:
        """Return an idle slot, or None while `holder` waits for its Grant or Refuse."""
        if self.queue.codel is not None:
            self.queue.check_timeout(timeout_ms)
        slot = self._pick() if self._is_open else None
        if slot is not None:
            return self._lease(slot, holder, now)
        if error_on_empty or not self._is_open:
            self._check_open(error_on_empty)
        self.queue.put(holder, timeout_ms, now)
        if self.idle:  # somebody released one meanwhile, and did not see that this claim waits
            self.serve_waiting(now)
        self.shape.want_for_waiting(now, has_limit=timeout_ms is not None)
        return None

    @property
    def wants_more(self) -> bool:
        """Return whether a claim without the lock is to be followed by `shape.want_more`."""
        return not self.shape.is_sampling or (
            self.slots.total < self.maximum and len(self.idle) < self._spares
        )

    def settle(self, slot: Slot, now: float) -> None:
        if slot.doomed is not None and self.slots.take_out(slot):
            self.slots.retire(slot, now)
        self.serve_waiting(now)

    def serve_waiting(self, now: float) -> None:
        while self.idle and self.queue.waiting and self._is_open:
            slot = self._pick()
            if slot is not None:
                self.become_idle(slot, now)

    def claim_idle(self, holder: Any, now: float) -> Slot:
        """Return an idle slot or raise an error, but never wait."""
        slot = self._pick() if self._is_open else None
        if slot is None:
            self._check_open(error_on_empty=True)
            raise NoBackendsError("no idle connection at this moment", pool=self)
        return self._lease(slot, holder, now)

    def cancel(self, holder: Any) -> bool:
        """Leave the queue at once; return False if the claim was not waiting."""
        is_waiting = self.queue.discard(holder)
        self.claims += is_waiting
        return is_waiting

    def release(self, slot: Slot, now: float, ok: bool | None = True) -> None:
        """Give a connection back; `ok` is the verdict on its backend, None for no verdict."""
        slot.lease.clear()
        slot.holder = None
        if ok is False:
            self.result_failed(slot.key, now)
        elif ok and not slot.proven:
            self.slots.prove(slot)
        elif ok and self.roster.outliers.strikes:
            self.roster.outliers.succeeded(slot.key)
        if slot.doomed is not None:
            self.slots.retire(slot, now)
        else:
            self.become_idle(slot, now)

    def discard(
        self, slot: Slot, now: float, ok: bool | None = None, is_open: bool = False
    ) -> None:
        """Give a connection back that is not to be used again; a new one takes its place."""
        is_open = is_open and slot.doomed is None
        slot.doomed = slot.doomed or "closed"
        if ok is False and not is_open:
            self.roster.trusted.discard(slot.key)
        if ok is None or is_open:  # it connected, and nothing else is known of it
            slot.proven, slot.attempt = True, 0
        self.release(slot, now, ok)

    def become_idle(self, slot: Slot, now: float) -> None:
        """Hand the slot to the claim that waits longest, or let it rest."""
        slot.state = IDLE
        slot.idle_since = now
        while (waiting := self.queue.pop(now)) is not None:
            holder, is_dropped = waiting
            if not is_dropped:
                self.actions.append(Grant(holder, self._lease(slot, holder, now)))
                return
            self._time_out(holder)
        self.idle.append(slot)
        self.queue.note_idle(now)

    def _pick(self) -> Slot | None:
        if not self.idle:
            return None
        if self.balancer is not None:
            return self.balancer.pick(self.idle, self.slots.all())
        try:
            return self.idle.popleft()
        except IndexError:  # a claim without the lock was faster
            return None

    def _lease(self, slot: Slot, holder: Any, now: float) -> Slot:
        slot.lend(holder)
        slot.leased_at = now
        if self.wants_more:
            self.shape.want_more(now)
        return slot

    def _check_open(self, error_on_empty: bool) -> None:
        if self.state in ("stopping", "stopped"):
            raise PoolStoppingError(f"{self.name} is {self.state}", pool=self)
        if self.state == "failed":
            raise self.failure()
        if error_on_empty and not self.roster.backends:
            error = NoBackendsError(f"{self.name} knows no backend", pool=self)
            raise error from self.last_error

    def failure(self) -> PoolFailedError:
        dead, known = len(self.roster.dead), len(self.roster.backends)
        cause = "" if self.last_error is None else f": {self.last_error}"
        error = PoolFailedError(
            f"connections to the backends of {self.name} keep failing "
            f'({dead} of {known} declared dead, in state "{self.state}"){cause}',
            pool=self,
        )
        error.__cause__ = self.last_error
        return error

    def _time_out(self, holder: Any) -> None:
        self.claims += 1
        self.counters["claim-timeout"] += 1
        cause = None if self._has_connections() else self.last_error
        why = "" if cause is None else f": {cause}"
        error = ClaimTimeoutError(f"no connection of {self.name} became free{why}", pool=self)
        error.__cause__ = cause
        self.actions.append(Refuse(holder, error))

    def _has_connections(self) -> bool:
        """Return whether claims wait for others to release, and for no backend."""
        return any(slot.is_connected for slot in self.slots.all())

    def refuse_all(self, error: Callable[[], PoolError]) -> None:
        for holder in self.queue.pop_all():
            self.claims += 1
            self.actions.append(Refuse(holder, error()))

    # -- backends ----------------------------------------------------------------------------

    def add_backend(self, backend: Backend, now: float) -> None:
        if self.state in ("stopping", "stopped"):
            return
        self.roster.add(backend)
        for slot in self.slots.of(backend.key):  # its weight may have changed
            slot.backend = backend
        self._choose_balancer()
        self.shape.want_rebalance()

    def remove_backend(self, key: str, now: float) -> None:
        if self.roster.remove(key):
            self._choose_balancer()
            self.slots.give_up_backend(key, now)
            self._fail_if_all_dead()
            self.shape.want_rebalance()

    def resolver_failed(self, error: BaseException) -> None:
        """Fail with the resolver, but only before the pool has begun to run."""
        self.last_error = error
        if self.state == "starting":
            self._fail()

    def backend_died(
        self, backend: Backend, kind: str, error: BaseException | None, now: float
    ) -> None:
        """Note the death of a backend that is still known; one that was removed does not count."""
        self.last_error = error
        if backend.key not in self.roster.backends:
            return
        self.roster.dead[backend.key] = Death(now, kind, error)
        most = max(self.counters["max-dead-backends"], len(self.roster.dead))
        self.counters["max-dead-backends"] = most
        self.actions.append(BackendDied(backend, error))
        self._fail_if_all_dead()
        self.shape.want_rebalance()

    def backend_lives(self, key: str) -> None:
        if self.roster.dead.pop(key, None) is not None:
            self.actions.append(BackendLives(self.roster.backends[key]))
            self.shape.want_rebalance()
        self.roster.succeeded.add(key)
        if self.state in ("starting", "failed"):
            self._enter("running")

    def result_failed(self, key: str, now: float) -> None:
        if self.roster.result_failed(key, now):
            self.counters["ejected"] += 1
            self.timers.set("return", min(self.roster.outliers.ejected.values()))
            self.shape.want_rebalance()

    def _choose_balancer(self) -> None:
        backends = self.roster.backends.values()
        self.balancer = chosen(self.config.balance, backends, self.balancer, self._chance)
        self._judge_plain()

    @property
    def is_weighted(self) -> bool:
        return self.balancer is not None and self.balancer.strategy == "weighted"

    def _judge_plain(self) -> None:
        """Note whether claims may do without the lock: first come first served, no lease limit."""
        self.plain.is_open = (
            self._is_open
            and self.balancer is None
            and self.queue.codel is None
            and self.config.max_lease is None
            and not self.is_singleton
        )

    def _fail_if_all_dead(self) -> None:
        if self.state in ("starting", "running") and self.roster.is_all_dead():
            self._fail()

    def _fail(self) -> None:
        self.counters["failed-state"] += 1
        self._enter("failed")
        self.refuse_all(self.failure)

    # -- time --------------------------------------------------------------------------------

    def tick(self, now: float) -> None:
        """Do what is due; `wake_at` then says when to come again."""
        self.wants_tick = False
        while (name := self.timers.pop_due(now)) is not None:
            self._fire(name, now)
        self.shape.rebalance_if_wanted(now)
        self.wants_tick = False

    def wake_at(self) -> float:
        return -math.inf if self.wants_tick else self.timers.next_at()

    def _fire(self, name: Any, now: float) -> None:
        match name:
            case ("claim", holder):
                self.queue.discard(holder)
                self._time_out(holder)
            case "return":
                self.roster.outliers.return_due(now)
                if self.roster.outliers.ejected:
                    self.timers.set("return", min(self.roster.outliers.ejected.values()))
                self.shape.want_rebalance()
            case "drain":
                for slot in list(self.slots.all()):
                    self.revoke(slot, "the pool is stopping", now)
            case str():
                self.shape.fire(name, now)
            case (event, slot_id):
                self.slots.fire(event, slot_id, now)

    def revoke(self, slot: Slot, reason: str, now: float) -> None:
        """Take a connection away from its holder."""
        holder = slot.holder
        if slot.state == BUSY and holder is not None and slot.end_lease(holder):
            self.actions.append(Revoke(holder, reason))
            slot.doomed = slot.doomed or "closed"
            self.slots.retire(slot, now)

    def demand(self) -> int:
        """Want at least one connection in a failed pool, or it would never run again."""
        living = len(self.roster.backends) - len(self.roster.dead)
        demand = self.shape.sizing.demand(self.slots.all(), len(self.queue), living)
        return max(demand, int(self.state == "failed"))

    def became_doomed(self, slot: Slot) -> None:
        """Mark a connection in use as not to be used again; its holder will notice by itself."""

    def is_last(self, slot: Slot) -> bool:
        """Return True for a connection that must not be given up; leases need no such care."""
        return False

    # -- the end -----------------------------------------------------------------------------

    def stop(self, now: float, drain_ms: float | None = None) -> None:
        """Refuse waiting claims, close what is idle, and wait for leases, at most `drain_ms`."""
        if self.state in ("stopping", "stopped"):
            return
        self._enter("stopping")
        self.refuse_all(self._stopping_error)
        if drain_ms is not None:
            self.timers.set("drain", now + drain_ms)
        self.slots.give_up_all(now)
        self.stop_if_empty()

    def stop_if_empty(self) -> None:
        if self.state == "stopping" and not len(self.slots):
            self.timers.clear()
            self._enter("stopped")

    def _stopping_error(self) -> PoolStoppingError:
        return PoolStoppingError(f"{self.name} is stopping", pool=self)

    def _enter(self, state: str) -> None:
        self.state = state
        self._is_open = state in ("starting", "running")
        self._judge_plain()
        self.actions.append(PoolStateChanged(state))

    # -- what can be seen --------------------------------------------------------------------

    def take(self) -> list[PoolAction]:
        actions, self.actions = self.actions, []
        return actions

    def lent(self) -> list[Slot]:
        """Return the slots in use, and those that a claim without the lock is just taking."""
        resting = {slot.id for slot in self.idle.copy()}
        taken = (slot for slot in self.slots.all() if slot.state in (BUSY, IDLE))
        return [slot for slot in taken if slot.state == BUSY or slot.id not in resting]

    def claims_in_all(self) -> int:
        waiting = len(self.queue)
        return self.claims + waiting + sum(slot.claims for slot in self.slots.all())

    def stats(self) -> dict[str, Any]:
        pending = sum(not slot.is_connected for slot in self.slots.all())
        return {
            "counters": {"claim": self.claims_in_all(), **self.queue.counters(), **self.counters},
            "total_connections": len(self.slots),
            "idle_connections": len(self.idle),
            "pending_connections": pending,
            "waiter_count": len(self.queue),
        }
