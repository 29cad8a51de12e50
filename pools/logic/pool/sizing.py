"""Decide how many connections a pool has, to which backends, and when to look again.

It keeps what is needed now and a little of what was needed, and limits how fast the connections to
one backend come and go.
"""

import math
from collections import deque
from collections.abc import Collection
from typing import TYPE_CHECKING

from pools.logic.dns.srv import weight_of
from pools.logic.pool.rebalance import plan_rebalance, plan_weighted
from pools.logic.pool.slot import BUSY, CLOSING, CONNECTING, RANK, Slot

if TYPE_CHECKING:
    from pools.logic.pool.pool import PoolMachine

TAPS = 128
TIME_CONSTANT = -0.2
SAMPLE_MS = 200.0
ROUNDING = 0.05  # the rest of old samples must not keep a whole connection
REBALANCE_MS = 10_000.0


class Churn:
    def __init__(self, max_rate: float) -> None:
        self._gap_ms = 1000.0 / max_rate if max_rate < math.inf else 0.0
        self._last: dict[str, float] = {}

    def allows(self, key: str, now: float) -> bool:
        """Return True once per gap and backend; the caller then makes its change."""
        if now < self.next_at(key):
            return False
        self._last[key] = now
        return True

    def next_at(self, key: str) -> float:
        return self._last.get(key, -math.inf) + self._gap_ms


def make_taps(count: int = TAPS, constant: float = TIME_CONSTANT) -> tuple[float, ...]:
    raw = [math.exp(constant * i) for i in range(count)]
    total = sum(raw)
    return tuple(value / total for value in raw)


class LowPass:
    """Weigh the latest samples of the demand, the older the less."""

    _taps = make_taps()

    def __init__(self, level: float) -> None:
        self._samples: deque[float] = deque([level] * TAPS, maxlen=TAPS)

    def put(self, sample: float) -> None:
        self._samples.appendleft(sample)

    def value(self) -> float:
        return sum(map(float.__mul__, self._taps, map(float, self._samples)))

    def is_level(self, sample: float) -> bool:
        """Return True if the memory holds nothing but this sample: more of it is useless."""
        return self._samples.count(sample) == TAPS


class Sizing:
    def __init__(self, spares: int, maximum: int, level: int) -> None:
        """`level` is the demand at rest, towards which the memory of more demand fades."""
        self.spares = spares
        self.maximum = maximum
        self.is_clamped = False
        self._peak = 0
        self._filter = LowPass(level)

    def demand(self, slots: Collection[Slot], waiting: int, living: int) -> int:
        """Count every claim, every spare, and a replacement for each slot that is trying again.

        Replacements are for other backends than the one in trouble, so a pool with one `living`
        backend gets none. The limit must not depend on how many are in trouble: opening and giving
        up replacements would never end.
        """
        busy = sum(slot.state == BUSY for slot in slots)
        trying = sum(slot.is_retrying and not slot.is_monitor for slot in slots)
        limit = max(0, living - 1) * max(1, self.spares)
        return busy + min(trying, limit) + waiting + self.spares

    def target(self, demand: int) -> int:
        """Grow at once, shrink slowly."""
        self._peak = max(self._peak, demand)
        floor = math.ceil(self._filter.value() - ROUNDING)
        self.is_clamped = demand < floor
        return min(max(demand, floor), self.maximum)

    def sample(self, demand: int) -> bool:
        """Remember the highest demand since; return False if more would change nothing."""
        self._filter.put(max(demand, self._peak))
        self._peak = 0
        return not self._filter.is_level(demand)


class Shape:
    def __init__(self, pool: "PoolMachine") -> None:
        self._pool = pool
        spares, maximum = pool.config.spares, pool.config.maximum
        self.sizing = Sizing(spares, maximum, level=0 if pool.is_singleton else spares)
        self._churn = Churn(pool.config.max_churn_rate)
        self._is_wanted = True
        self.is_sampling = False
        self.last_rebalance_at: float | None = None

    def want_rebalance(self) -> None:
        self._is_wanted = True
        self._pool.wants_tick = True

    def want_more(self, now: float) -> None:
        """Remember the demand after a claim took a connection, and grow if there is room."""
        if not self.is_sampling:
            self.is_sampling = True
            self._pool.timers.set("sample", now + SAMPLE_MS)
            self._pool.wants_tick = True
        if len(self._pool.idle) < self._pool.config.spares and self._has_room():
            self.want_rebalance()

    def want_for_waiting(self, now: float, has_limit: bool) -> None:
        """Grow for a waiting claim if there is room, and set a timer for its limit."""
        if self._pool.slots.resting:
            self._pool.slots.wake_resting(now)
        if self._has_room():
            self.want_rebalance()
        elif has_limit or self._pool.queue.codel is not None:
            self._pool.wants_tick = True

    def _has_room(self) -> bool:
        """Return whether it may grow; a set opens a new connection before closing its last."""
        return len(self._pool.slots) < self._pool.config.maximum + self._pool.is_singleton

    # -- rebalance ---------------------------------------------------------------------------

    def rebalance_if_wanted(self, now: float) -> None:
        self._start_timers(now)
        while self._is_wanted and self._pool.state not in ("stopping", "stopped"):
            self._is_wanted = False
            self._rebalance(now)

    def _rebalance(self, now: float) -> None:
        self.last_rebalance_at = now
        roster = self._pool.roster
        target = self.sizing.target(self._pool.demand())
        maximum, singleton = self._pool.config.maximum, self._pool.is_singleton
        keys = roster.in_use(watched=max(maximum - target, maximum // 2))
        self._leave_others(set(keys), now)
        groups = [(key, self._replaceable(key)) for key in keys]
        if self._pool.is_weighted and not singleton:
            weights = {key: weight_of(roster.backends[key]) for key in keys}
            plan = plan_weighted(groups, weights, roster.dead.keys(), target, maximum)
        else:
            plan = plan_rebalance(groups, roster.dead.keys(), target, maximum, singleton)
        for slot in plan.remove:
            if not self._pool.is_last(slot) and self._may_change(slot.key, now):
                self._pool.slots.give_up(slot, now)
        for key in plan.add:
            if not self._adopt(key) and self._has_room() and self._may_change(key, now):
                self._pool.slots.open(roster.backends[key], now)

    def _replaceable(self, key: str) -> list[Slot]:
        """Return the slots that count for this backend, the least needed first."""
        slots = [s for s in self._pool.slots.of(key) if _counts(s)]
        return sorted(slots, key=lambda slot: RANK[slot.state])

    def _leave_others(self, keys: set[str], now: float) -> None:
        """Give up backends of a worse priority, and those that rest: they need no connections."""
        for slot in list(self._pool.slots.all()):
            if slot.key not in keys and _counts(slot):
                self._pool.slots.give_up(slot, now)

    def _adopt(self, key: str) -> bool:
        """Keep a connection that was to be closed when it becomes free."""
        for slot in self._pool.slots.of(key):
            is_ours = slot.state == CONNECTING or (
                slot.state == BUSY and not self._pool.is_singleton
            )
            if is_ours and slot.doomed == "unwanted":
                slot.doomed = None
                return True
        return False

    def _may_change(self, key: str, now: float) -> bool:
        if self._churn.allows(key, now):
            return True
        self._pool.timers.set("churn", self._churn.next_at(key))
        return False

    # -- time --------------------------------------------------------------------------------

    def _start_timers(self, now: float) -> None:
        config, timers = self._pool.config, self._pool.timers
        if self.last_rebalance_at is None:
            self.last_rebalance_at = now
            timers.set("rebalance", now + REBALANCE_MS)
            timers.set("decohere", now + config.decoherence_interval * 1000)
            if config.check_timeout is not None:
                timers.set("check", now + config.check_timeout)
            if config.max_lease is not None:
                timers.set("lease", now + config.max_lease)

    def fire(self, name: str, now: float) -> None:
        if name == "sample":
            self._sample(now)
        elif name == "check":
            self._check(now)
        elif name == "lease":
            self._end_leases(now)
        else:
            self._repeat(name, now)

    def _repeat(self, name: str, now: float) -> None:
        if name == "rebalance":
            self._pool.timers.set(name, now + REBALANCE_MS)
        elif name == "decohere":
            self._pool.timers.set(name, now + self._pool.config.decoherence_interval * 1000)
            self._pool.roster.reshuffle()
        self.want_rebalance()

    def _sample(self, now: float) -> None:
        self.is_sampling = self.sizing.sample(self._pool.demand())
        if self.is_sampling:
            self._pool.timers.set("sample", now + SAMPLE_MS)
        if self.sizing.is_clamped or self._is_too_big():
            self.want_rebalance()

    def _is_too_big(self) -> bool:
        return len(self._pool.slots) > self._pool.demand() + len(self._pool.roster.dead)

    def _check(self, now: float) -> None:
        rest_ms = self._pool.config.check_timeout or 0.0
        self._pool.slots.check_idle(now)
        oldest = min((slot.idle_since for slot in self._pool.idle.copy()), default=now)
        self._pool.timers.set("check", oldest + rest_ms)

    def _end_leases(self, now: float) -> None:
        limit_ms = self._pool.config.max_lease or 0.0
        busy = [slot for slot in self._pool.slots.all() if slot.state == BUSY]
        for slot in busy:
            if now - slot.leased_at >= limit_ms:
                self._pool.counters["lease-expired"] += 1
                self._pool.revoke(slot, f"held longer than {limit_ms:g}ms", now)
        oldest = min((slot.leased_at for slot in busy if slot.state == BUSY), default=now)
        self._pool.timers.set("lease", oldest + limit_ms)


def _counts(slot: Slot) -> bool:
    return slot.doomed != "unwanted" and not (slot.state == CLOSING and slot.next_step == "go")
