"""Whatever happens in whatever order, a pool keeps its promises."""

import itertools

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from pools.logic.errors import ClaimError
from pools.logic.pool.health import HealthPolicy, OutlierPolicy
from tests.pools.pool.pool_run import PoolRun

KEYS = st.sampled_from(["b1", "b2", "b3"])


class PoolModel(RuleBasedStateMachine):
    @initialize(
        spares=st.integers(0, 4),
        more=st.integers(0, 4),
        check=st.sampled_from([None, 300.0]),
        chance=st.integers(0, 999),
        churn=st.sampled_from([float("inf"), 5.0]),
        delay=st.sampled_from([None, 200.0]),
    )
    def begin(self, spares, more, check, chance, churn, delay):
        self.run = PoolRun(
            spares=spares,
            maximum=max(1, spares + more),
            check_timeout=check,
            chance=lambda: chance / 1000,
            max_churn_rate=churn,
            max_waiting=20,
            max_lease=5000.0,
            target_claim_delay=delay,
            health=HealthPolicy(rise=2, fall=2),
            outliers=OutlierPolicy(failures=2, base_ms=500, max_share=0.5),
        )
        self.has_delay = delay is not None
        self.serial = itertools.count()
        self.asked = set()
        self.cancelled = set()
        self.ended = set()

    @rule(key=KEYS, priority=st.integers(0, 1), weight=st.integers(0, 2))
    def add(self, key, priority, weight):
        self.run.add(key, priority=priority, weight=weight)

    @rule(key=KEYS)
    def remove(self, key):
        self.run.remove(key)

    @rule(key=KEYS, net=st.sampled_from(["ok", "refuse", "hang", "manual"]))
    def change_net(self, key, net):
        self.run.nets[key] = net

    @rule(key=KEYS, check=st.sampled_from(["ok", "bad", "hang"]))
    def change_check(self, key, check):
        self.run.checks[key] = check

    @rule(key=KEYS, fails=st.booleans())
    def finish(self, key, fails):
        self.run.finish(key, OSError("no") if fails else None)

    @rule(timeout=st.sampled_from([None, 50.0, 400.0]), empty=st.booleans())
    def claim(self, timeout, empty):
        holder = next(self.serial)
        timeout = None if self.has_delay else timeout
        try:
            self.run.claim(holder, timeout_ms=timeout, error_on_empty=empty)
        except ClaimError:
            return
        self.asked.add(holder)

    def held(self):
        return [h for h in sorted(self.asked - self.ended) if self.is_held(h)]

    def is_held(self, holder):
        answer = self.run.answers.get(holder, [None])[-1]
        return getattr(answer, "holder", None) == holder

    @precondition(lambda self: self.held())
    @rule(data=st.data(), ok=st.sampled_from([True, False, None]), close=st.booleans())
    def give_back(self, data, ok, close):
        holder = data.draw(st.sampled_from(self.held()))
        self.ended.add(holder)
        give_back = self.run.discard if close else self.run.release
        give_back(holder, ok=ok)

    @rule(data=st.data())
    def cancel(self, data):
        waiting = sorted(self.asked - self.cancelled - self.run.answers.keys())
        if waiting:
            holder = data.draw(st.sampled_from(waiting))
            assert self.run.machine.cancel(holder)
            self.cancelled.add(holder)

    @rule(data=st.data(), breaks=st.booleans())
    def lose(self, data, breaks):
        if self.run.open_connections():
            connection = data.draw(st.sampled_from(self.run.open_connections()))
            self.run.lose(connection, OSError("reset") if breaks else None)

    @rule(ms=st.sampled_from([1, 30, 150, 1100, 11_000]))
    def advance(self, ms):
        self.run.advance(ms)

    @invariant()
    def maximum_holds(self):
        assert self.run.most_open <= self.run.machine.config.maximum
        assert len(self.run.machine.slots) <= self.run.machine.config.maximum

    @invariant()
    def every_open_connection_is_in_one_slot(self):
        slots = [s for s in self.run.machine.slots.all() if s.connection is not None]
        assert sorted(map(id, self.run.open_connections())) == sorted(
            id(slot.connection) for slot in slots
        )
        idle = [s for s in slots if s.state == "idle"]
        assert sorted(s.id for s in idle) == sorted(s.id for s in self.run.machine.idle)
        stats = self.run.machine.stats()
        busy = sum(s.state in ("busy", "checking") for s in slots)
        total = stats["idle_connections"] + stats["pending_connections"] + busy
        assert total == stats["total_connections"]

    @invariant()
    def no_connection_has_two_holders(self):
        held = [self.run.slot(holder).id for holder in self.held()]
        assert len(held) == len(set(held))

    @invariant()
    def every_claim_is_answered_at_most_once(self):
        assert all(len(answers) == 1 for answers in self.run.answers.values())
        assert not self.cancelled & self.run.answers.keys()

    @invariant()
    def nobody_waits_beside_an_idle_connection(self):
        assert not (self.run.machine.idle and len(self.run.machine.queue))

    def teardown(self):
        if not hasattr(self, "run"):
            return
        self.run.machine.stop(self.run.now, drain_ms=1000)
        self.run.settle().advance(10_000)
        assert self.run.state == "stopped"
        assert self.run.open_connections() == []
        assert self.asked == self.cancelled | self.run.answers.keys()


TestPool = PoolModel.TestCase
TestPool.settings = settings(
    max_examples=60,
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
