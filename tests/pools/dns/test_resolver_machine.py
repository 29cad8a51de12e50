"""Whatever is answered in whatever order, a resolver keeps its promises."""

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from pools.logic.dns.reply import Record, Reply
from pools.logic.dns.resolver import Added, Removed
from pools.logic.dns.ttl import TtlLimits
from tests.pools.dns.resolver_run import (
    NODATA,
    NXDOMAIN,
    SRV,
    TIMEOUT,
    ResolverRun,
    a,
    aaaa,
    soa,
    srv,
)

FLOOR = 5000
TTLS = st.sampled_from([0, 1, 7, 60, 4000, 2**31 - 1])
NAMES = ["svc.x", "t1.x", "t2.x"]
ERRORS = [TIMEOUT, Reply("SERVFAIL"), Reply("REFUSED"), Reply("FORMERR"), Reply("XYZ")]
NEGATIVES = [NXDOMAIN, NODATA, soa("NXDOMAIN", 30, 9), soa("NOERROR", 3, 9), Reply("NOTIMP")]
ADDRESSES = st.lists(st.integers(1, 9), min_size=1, max_size=3)


class ResolverModel(RuleBasedStateMachine):
    denials = NEGATIVES

    @initialize(chance=st.integers(0, 999), ipv6=st.booleans(), servers=st.integers(1, 3))
    def begin(self, chance, ipv6, servers):
        self.run = ResolverRun(
            chance=lambda: chance / 1000,
            has_ipv6=ipv6,
            servers=[f"ns{i}" for i in range(servers)],
            ttl=TtlLimits(FLOOR),
        )
        self.run.default = self.denials[0]
        self.run.start().advance(3000)
        self.announced = {}
        self.passes = [self.run.machine.pass_began_at]
        self.was_full = False

    @rule(
        names=st.lists(st.sampled_from(NAMES[1:]), min_size=1, max_size=2),
        ttl=TTLS,
        along=st.booleans(),
    )
    def answer_srv(self, names, ttl, along):
        extra = [Record(name, "A", ttl, "10.0.0.9") for name in names if along]
        self.run.zone[SRV, "SRV"] = srv(*[(name, 1) for name in names], ttl=ttl, additional=extra)

    @rule(name=st.sampled_from(NAMES), numbers=ADDRESSES, ttl=TTLS)
    def answer_a(self, name, numbers, ttl):
        self.run.zone[name, "A"] = a(name, *[f"10.0.0.{n}" for n in numbers], ttl=ttl)

    @rule(name=st.sampled_from(NAMES), numbers=ADDRESSES, ttl=TTLS)
    def answer_aaaa(self, name, numbers, ttl):
        self.run.zone[name, "AAAA"] = aaaa(name, *[f"::{n}" for n in numbers], ttl=ttl)

    @rule(
        name=st.sampled_from([SRV, *NAMES]),
        rdtype=st.sampled_from(["SRV", "A", "AAAA"]),
        error=st.sampled_from(ERRORS),
    )
    def fail(self, name, rdtype, error):
        self.run.zone[name, rdtype] = error

    @rule(
        name=st.sampled_from([SRV, *NAMES]),
        rdtype=st.sampled_from(["SRV", "A", "AAAA"]),
        number=st.integers(0, 99),
    )
    def deny(self, name, rdtype, number):
        self.run.zone[name, rdtype] = self.denials[number % len(self.denials)]

    @rule()
    def resolve_now(self):
        self.run.do(self.run.machine.resolve_now(self.run.now))

    @rule(ms=st.sampled_from([1, 700, 5000, 70_000, 4_000_000]))
    def advance(self, ms):
        until = self.run.now + ms
        while self.run.now < until:
            step = min(until - self.run.now, max(1, self.run.machine.wake_at - self.run.now))
            self.run.advance(step)
            if self.run.machine.pass_began_at != self.passes[-1]:
                self.passes.append(self.run.machine.pass_began_at)

    @invariant()
    def passes_are_never_closer_than_the_floor(self):
        pairs = zip(self.passes, self.passes[1:], strict=False)
        assert all(later - earlier >= FLOOR - 1e-6 for earlier, later in pairs)

    @invariant()
    def the_events_tell_the_truth(self):
        for event in self.run.events:
            if isinstance(event, Added):
                self.announced[event.backend.key] = event.backend
            elif isinstance(event, Removed):
                del self.announced[event.backend.key]
        self.run.events.clear()
        assert self.announced == self.run.machine.backends

    @invariant()
    def it_is_never_stuck(self):
        assert self.run.machine.wake_at < float("inf")

    @invariant()
    def running_is_for_ever(self):
        self.was_full = self.run.machine.counters["backend-added"] > 0
        assert self.run.machine.state == ("running" if self.was_full else "failed")


class ErrorsOnly(ResolverModel):
    """The same with errors instead of negative answers: nothing may ever be emptied."""

    denials = [TIMEOUT]

    @invariant()
    def an_error_never_empties_the_backends(self):
        assert self.run.machine.backends or not self.was_full


SETTINGS = settings(
    max_examples=40,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
TestResolver = ResolverModel.TestCase
TestResolver.settings = SETTINGS
TestErrorsOnly = ErrorsOnly.TestCase
TestErrorsOnly.settings = SETTINGS
