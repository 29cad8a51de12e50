"""A resolver from start to stop: R33 of the specification, restarts, limits, records."""

import math

import pytest

from pools.logic.backends import make_backend
from pools.logic.dns.reply import Reply
from pools.logic.dns.resolver import StateChanged
from pools.logic.dns.ttl import TtlLimits
from tests.pools.dns.resolver_run import NXDOMAIN, SRV, TIMEOUT, ResolverRun, a, srv
from tests.pools.dns.zones import PLAIN, SRV_AND_PLAIN, TWO_TARGETS


@pytest.mark.parametrize("ms", [0, 30, 150, 70_000])
def test_r33_after_stop_nothing_happens(ms):
    run = ResolverRun({**PLAIN, (SRV, "SRV"): TIMEOUT}).start().advance(ms)
    run.do(run.machine.stop())
    assert run.events[-2:] == [StateChanged("stopping"), StateChanged("stopped")]
    run.events.clear()
    run.questions()
    run.advance(10_000_000)
    assert (run.events, run.questions(), run.state) == ([], [], "stopped")


def test_a_restart_announces_everything_again():
    run = ResolverRun(PLAIN).start()
    run.do(run.machine.stop())
    run.changes()
    run.start()
    assert run.changes() == [("added", "1.0.0.9:99")]


def test_a_restart_without_answers_is_failed_and_not_the_old_truth():
    run = ResolverRun(PLAIN).start()
    run.do(run.machine.stop())
    run.default, run.zone = Reply("REFUSED"), {}
    run.start()
    assert run.state == "failed"


def test_start_twice_and_stop_twice_change_nothing():
    run = ResolverRun(PLAIN).start()
    assert run.machine.start(run.now) == []
    run.do(run.machine.stop())
    assert run.machine.stop() == []


def test_no_such_service_is_believed_at_once():
    run = ResolverRun(SRV_AND_PLAIN).start()
    run.questions()
    run.zone[SRV, "SRV"] = srv((".", 0), ttl=30)
    run.advance(31_000)
    assert run.questions() == [(SRV, "SRV")]
    assert (run.backends, run.state) == ([], "running")


def test_resolve_now_waits_for_the_floor():
    run = ResolverRun(PLAIN, ttl=TtlLimits(floor_ms=5000)).start()
    run.questions()
    run.do(run.machine.resolve_now(run.now)).advance(0)
    assert run.questions() == []
    run.advance(5000)
    assert run.questions() == [(SRV, "SRV"), ("svc.x", "AAAA"), ("svc.x", "A")]
    run.advance(5000)
    run.do(run.machine.resolve_now(run.now)).advance(0)
    assert len(run.questions()) == 3


def test_many_targets_are_looked_up_in_parallel_up_to_the_limit():
    targets = [(f"t{i}.x", 1) for i in range(20)]
    zone = {(SRV, "SRV"): srv(*targets)}
    zone |= {(name, "A"): {"ns1": (10, a(name, "1.0.0.1"))} for name, _ in targets}
    run = ResolverRun(zone, has_ipv6=False).start()
    assert len(run.questions()) == 1 + 5
    run.advance(50)
    assert len(run.backends) == 20


def test_priority_and_weight_reach_the_backends():
    run = ResolverRun({**TWO_TARGETS, (SRV, "SRV"): srv(("a.x", 1, 5, 70))}).start()
    (backend,) = run.machine.backends.values()
    assert (backend.priority, backend.weight) == (5, 70)


def test_every_step_is_on_record():
    run = ResolverRun({**PLAIN, ("svc.x", "A"): {"ns1": (7, a("svc.x", "1.0.0.9"))}}).start()
    run.advance(10)
    step = run.machine.trace[-1]
    assert (step.server, step.rdtype, step.took_ms, step.attempt) == ("ns1", "A", 7, 1)
    assert (step.result, step.ttl_ms) == ("1 records", 3600_000)


def test_a_resolver_without_nameservers_waits_and_says_so():
    run = ResolverRun(PLAIN, servers=()).start()
    assert (run.state, run.machine.wake_at) == ("starting", math.inf)
    run.do(run.machine.no_nameservers("nobody knows ns.x"))
    assert run.state == "failed"
    run.do(run.machine.set_nameservers(["ns1"], run.now)).advance(1)
    assert run.state == "running"


def test_the_last_nameserver_is_never_taken_away():
    run = ResolverRun(PLAIN).start()
    run.do(run.machine.set_nameservers([], run.now))
    assert run.machine.nameservers == ["ns1"]


@pytest.mark.parametrize("answer", [TIMEOUT, Reply("SERVFAIL"), Reply("REFUSED")])
def test_known_backends_outlive_srv_failures_after_a_restart(answer):
    """A service with SRV records only has no address at its plain name, which says nothing."""
    run = ResolverRun({(SRV, "SRV"): answer})
    known = make_backend("a.x", "1.0.0.1", 1)
    run.machine.backends = {known.key: known}
    run.start().advance(20 * 60_000)
    assert run.backends == ["1.0.0.1:1"]
    run.zone[SRV, "SRV"] = NXDOMAIN
    run.advance(40 * 60_000)
    assert run.backends == []


def test_a_plain_name_that_is_gone_is_believed_though_srv_is_refused():
    run = ResolverRun({**PLAIN, (SRV, "SRV"): Reply("REFUSED")}).start()
    run.zone["svc.x", "A"] = NXDOMAIN
    run.advance(2 * 3600_000)
    assert run.backends == []
