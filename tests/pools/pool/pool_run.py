"""Run a pool in a test with backends that connect, refuse or hang, and a clock that jumps."""

import heapq
import itertools

from pools.logic.backends import Backend
from pools.logic.errors import BackendConnectionError, CheckFailedError
from pools.logic.pool.actions import (
    Abandon,
    BackendDied,
    Check,
    Close,
    Connect,
    Grant,
    PoolStateChanged,
    Refuse,
    Revoke,
)
from pools.logic.pool.config import PoolConfig
from pools.logic.pool.pool import PoolMachine
from pools.logic.recovery import RecoverySpec

RECOVERY = {"default": {"timeout": 100, "retries": 3, "delay": 20, "delay_spread": 0}}


class Connection:
    def __init__(self, key):
        self.key = key
        self.is_open = True


def backend(key, priority=0, weight=0):
    return Backend(f"{key}.x", f"10.0.0.{key.strip('b')}", 80, key, priority, weight)


class PoolRun:
    """`nets[key]` is ok, refuse, hang or manual; `checks[key]` is ok, bad or hang."""

    def __init__(self, *keys, chance=lambda: 0.999, recovery=RECOVERY, **options):
        options = {"spares": 2, "maximum": 4, "domain": "svc.x", **options}
        config = PoolConfig(recovery=RecoverySpec(recovery), **options)
        self.machine = PoolMachine(config, chance)
        self.now = 0.0
        self.nets = {}
        self.checks = {}
        self.pending = {}
        self.connections = []
        self.attempts = []
        self.answers = {}
        self.states = []
        self.revoked = {}
        self.checked = []
        self.resolves = 0
        self.most_open = 0
        self._later = []
        self._serial = itertools.count()
        for key in keys:
            self.add(key)

    def add(self, key, **srv):
        self.machine.add_backend(backend(key, **srv), self.now)
        return self.settle()

    def remove(self, key):
        self.machine.remove_backend(key, self.now)
        return self.settle()

    def settle(self):
        """Do what the machine asks for until it asks no more, at the present moment."""
        rounds = itertools.count()
        while self.machine.actions or self.machine.wake_at() <= self.now or self._is_due():
            assert next(rounds) < 5000, "the pool does not come to rest"
            for action in self.machine.take():
                self._do(action)
            if self._is_due():
                heapq.heappop(self._later)[2]()
            elif self.machine.wake_at() <= self.now:
                self.machine.tick(self.now)
        return self

    def advance(self, ms):
        until = self.now + ms
        while (at := min(self.machine.wake_at(), self._next_at())) <= until:
            self.now = max(self.now, at)
            self.settle()
        self.now = until
        return self.settle()

    def claim(self, holder, **options):
        slot = self.machine.claim(holder, self.now, **options)
        if slot is not None:
            self.answers.setdefault(holder, []).append(slot)
        return self.settle()

    def release(self, holder, **options):
        self.machine.release(self.slot(holder), self.now, **options)
        return self.settle()

    def discard(self, holder, **options):
        self.machine.discard(self.slot(holder), self.now, **options)
        return self.settle()

    def slot(self, holder):
        return self.answers[holder][-1]

    def lose(self, connection, error=None):
        slot = next(s for s in self.machine.slots.all() if s.connection is connection)
        self.machine.slots.lost(slot.id, connection, error, self.now)
        return self.settle()

    def finish(self, key, error=None):
        """Let the manual connection attempts to this backend end."""
        for slot_id, serial, to in self.pending.pop(key, []):
            self._connected(slot_id, serial, to, error)
        return self.settle()

    @property
    def state(self):
        return self.machine.state

    def open_connections(self):
        return [c for c in self.connections if c.is_open]

    def shape(self):
        """Return slots per backend and state."""
        found = {}
        for slot in self.machine.slots.all():
            states = found.setdefault(slot.key, {})
            states[slot.state] = states.get(slot.state, 0) + 1
        return found

    def _do(self, action):
        match action:
            case Connect():
                self._connect(action)
            case Abandon(slot_id, serial):
                for key, attempts in self.pending.items():
                    self.pending[key] = [a for a in attempts if a[:2] != (slot_id, serial)]
            case Close(slot_id, connection):
                connection.is_open = False
                if slot_id is not None:
                    self.machine.slots.closed(slot_id, self.now)
            case Check(slot_id, connection):
                self._check(slot_id, connection)
            case Grant(holder, slot):
                self.answers.setdefault(holder, []).append(slot)
            case Refuse(holder, error):
                self.answers.setdefault(holder, []).append(error)
            case Revoke(holder, reason):
                self.revoked[holder] = reason
            case PoolStateChanged(state):
                self.states.append(state)
            case BackendDied():
                self.resolves += 1

    def _connect(self, action):
        key = action.backend.key
        self.attempts.append((self.now, key, action.timeout_ms))
        attempt = (action.slot_id, action.serial, action.backend)
        match self.nets.get(key, "ok"):
            case "ok":
                self._soon(lambda: self._connected(*attempt))
            case "refuse":
                refused = BackendConnectionError(f"{key} refused")
                self._soon(lambda: self._connected(*attempt, refused))
            case "manual":
                self.pending.setdefault(key, []).append(attempt)

    def _connected(self, slot_id, serial, to, error=None):
        if error is not None:
            self.machine.slots.connect_failed(slot_id, serial, error, self.now)
            return
        connection = Connection(to.key)
        self.connections.append(connection)
        self.most_open = max(self.most_open, len(self.open_connections()))
        self.machine.slots.connected(slot_id, serial, connection, self.now)

    def _check(self, slot_id, connection):
        self.checked.append((self.now, connection))
        verdict = self.checks.get(connection.key, "ok")
        error = CheckFailedError("503") if verdict == "bad" else None
        if verdict != "hang":
            self._soon(lambda: self.machine.slots.checked(slot_id, connection, error, self.now))

    def _soon(self, call):
        heapq.heappush(self._later, (self.now, next(self._serial), call))

    def _next_at(self):
        return self._later[0][0] if self._later else float("inf")

    def _is_due(self):
        return self._next_at() <= self.now
