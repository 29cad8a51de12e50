"""The scenarios R1 to R29 of the specification, in their improved form."""

import pytest

from pools.logic.dns.reply import Record, Reply
from pools.logic.dns.resolver import Updated
from pools.logic.dns.ttl import StalePolicy, TtlLimits
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
from tests.pools.dns.zones import PLAIN, SRV_AND_PLAIN, TWO_TARGETS

ERRORS = [Reply("SERVFAIL"), Reply("FORMERR"), TIMEOUT, Reply("REFUSED")]


def test_r1_srv_then_every_aaaa_then_every_a():
    run = ResolverRun(TWO_TARGETS).start()
    assert run.questions() == [
        (SRV, "SRV"),
        ("a.x", "AAAA"),
        ("b.x", "AAAA"),
        ("a.x", "A"),
        ("b.x", "A"),
    ]
    assert run.backends == ["1.0.0.1:1", "::2:2"]
    assert run.state == "running"


def test_r2_without_srv_the_plain_name_is_used_with_the_default_port():
    run = ResolverRun(PLAIN).start()
    assert run.questions() == [(SRV, "SRV"), ("svc.x", "AAAA"), ("svc.x", "A")]
    assert run.backends == ["1.0.0.9:99"]


def test_r3_nothing_found_is_failed_and_goes_on_trying():
    run = ResolverRun().start()
    assert run.state == "failed"
    assert "failed to find any DNS records for (_s._tcp.)svc.x" in run.machine.last_error
    assert 'IPv4 (A) lookup for "svc.x" failed: NXDOMAIN' in run.machine.last_error
    assert run.changes() == []
    run.questions()
    run.zone.update(PLAIN)
    run.advance(72_000)
    assert run.questions() == [("svc.x", "A")]
    assert run.state == "running"


def test_r4_an_a_query_that_is_not_implemented_is_tried_once_and_retried():
    run = ResolverRun()
    run.default = Reply("NOTIMP")
    run.start().advance(500)
    assert run.state == "failed"
    assert run.questions() == [(SRV, "SRV"), ("svc.x", "AAAA")] + [("svc.x", "A")] * 4


def test_r5_targets_without_addresses_are_failed():
    run = ResolverRun({(SRV, "SRV"): srv(("a.x", 1), ("b.x", 2))})
    run.default = Reply("NOTIMP")
    run.start().advance(500)
    assert run.state == "failed"


def test_r6_without_ipv6_no_aaaa_is_asked():
    run = ResolverRun(TWO_TARGETS, has_ipv6=False).start()
    assert run.questions() == [(SRV, "SRV"), ("a.x", "A"), ("b.x", "A")]


def test_r7_an_expired_a_is_the_only_one_asked_again():
    run = ResolverRun({**PLAIN, ("svc.x", "A"): a("svc.x", "1.0.0.9", ttl=1)}).start()
    run.questions(), run.changes()
    run.advance(1500)
    assert run.questions() == [("svc.x", "A")]
    assert run.changes() == []


def test_r8_only_the_expired_aaaa_is_asked_again():
    targets = [(f"{n}.x", 1) for n in "abc"]
    zone = {(SRV, "SRV"): srv(*targets)}
    for name, _ in targets:
        zone[name, "A"] = NODATA
        zone[name, "AAAA"] = aaaa(name, f"::{name[0]}", ttl=1 if name == "b.x" else 3600)
    run = ResolverRun(zone).start()
    run.questions()
    run.advance(1500)
    assert run.questions() == [("b.x", "AAAA")]


def test_r9_a_new_target_is_the_only_one_looked_up():
    run = ResolverRun({**TWO_TARGETS, (SRV, "SRV"): srv(("a.x", 1), ttl=1)}).start()
    run.questions(), run.changes()
    run.zone[SRV, "SRV"] = srv(("a.x", 1), ("b.x", 2), ttl=1)
    run.advance(1500)
    assert run.questions() == [(SRV, "SRV"), ("b.x", "AAAA"), ("b.x", "A")]
    assert run.changes() == [("added", "::2:2")]


def test_r10_duplicates_are_one_backend():
    zone = {
        (SRV, "SRV"): srv(("a.x", 1), ("A.x", 1)),
        ("a.x", "A"): a("a.x", "1.0.0.1", "1.0.0.1"),
        ("a.x", "AAAA"): NODATA,
    }
    run = ResolverRun(zone).start()
    assert run.changes() == [("added", "1.0.0.1:1")]


def test_r11_removed_comes_before_added():
    run = ResolverRun({**TWO_TARGETS, (SRV, "SRV"): srv(("a.x", 1), ("b.x", 2), ttl=1)}).start()
    run.changes()
    run.zone[SRV, "SRV"] = srv(("b.x", 2), ("c.x", 3), ttl=1)
    run.zone["c.x", "A"] = a("c.x", "1.0.0.3")
    run.advance(1500)
    assert run.changes() == [("removed", "1.0.0.1:1"), ("added", "1.0.0.3:3")]


@pytest.mark.parametrize("error", [Reply("SERVFAIL"), TIMEOUT], ids=["servfail", "timeout"])
def test_r12_an_error_at_refresh_keeps_the_backend(error):
    run = ResolverRun(PLAIN).start()
    run.questions(), run.changes()
    run.zone["svc.x", "A"] = error
    run.advance(62_000)
    assert run.questions() == [("svc.x", "A")] * 4
    assert (run.backends, run.state) == (["1.0.0.9:99"], "running")
    assert run.machine.records.stale_since() is not None
    run.advance(55_000)
    assert run.questions() == []
    run.advance(24 * 3600_000)
    assert run.backends == ["1.0.0.9:99"]


def test_r13_a_name_that_is_gone_is_kept_until_it_is_too_stale():
    run = ResolverRun(PLAIN, stale=StalePolicy({"nxdomain": 100_000})).start()
    run.zone["svc.x", "A"] = NXDOMAIN
    run.advance(61_000)
    assert (run.backends, run.machine.records.stale_since()) == (["1.0.0.9:99"], 60_000)
    run.advance(98_000)
    assert run.backends == ["1.0.0.9:99"]
    run.advance(2000)
    assert (run.backends, run.state) == ([], "running")


def test_r13_an_answer_in_time_makes_it_fresh_again():
    run = ResolverRun(PLAIN, stale=StalePolicy({"nxdomain": 100_000})).start()
    run.zone["svc.x", "A"] = NXDOMAIN
    run.advance(61_000)
    run.zone["svc.x", "A"] = PLAIN["svc.x", "A"]
    run.advance(500_000)
    assert run.backends == ["1.0.0.9:99"]
    assert run.machine.records.stale_since() is None


def test_r13_an_empty_answer_can_be_believed_at_once():
    run = ResolverRun(PLAIN, stale=StalePolicy(keep_on_empty=False)).start()
    run.zone["svc.x", "A"] = NODATA
    run.advance(61_000)
    assert run.backends == []


def test_r14_one_target_gone_is_stale_and_leaves_alone():
    zone = {**TWO_TARGETS, ("a.x", "A"): a("a.x", "1.0.0.1", ttl=60)}
    run = ResolverRun(zone, stale=StalePolicy({"nxdomain": 100_000})).start()
    run.changes()
    run.zone["a.x", "A"] = NXDOMAIN
    run.advance(61_000)
    assert run.backends == ["1.0.0.1:1", "::2:2"]
    run.advance(100_000)
    assert run.changes() == [("removed", "1.0.0.1:1")]


@pytest.mark.parametrize("error", ERRORS)
def test_r15_srv_errors_keep_the_backends_and_ask_no_plain_name(error):
    run = ResolverRun(SRV_AND_PLAIN).start()
    run.questions(), run.changes()
    run.zone[SRV, "SRV"] = error
    run.advance(31_000)
    assert set(run.questions()) == {(SRV, "SRV")}
    assert run.backends == ["1.0.0.1:1"]
    run.advance(27_000)
    assert run.questions() == []
    run.advance(5000)
    assert set(run.questions()) == {(SRV, "SRV")}
    assert run.changes() == []


@pytest.mark.parametrize("gone", [NXDOMAIN, NODATA], ids=["nxdomain", "nodata"])
def test_r16_srv_gone_is_confirmed_before_the_plain_name_is_used(gone):
    run = ResolverRun(SRV_AND_PLAIN).start()
    run.changes()
    run.zone[SRV, "SRV"] = gone
    run.advance(31_000)
    assert run.backends == ["1.0.0.1:1"]
    run.advance(31_000)
    assert run.backends == ["1.0.0.9:99"]
    assert run.changes() == [("removed", "1.0.0.1:1"), ("added", "1.0.0.9:99")]


def test_r17_srv_and_the_plain_name_gone_keeps_the_backends_and_asks_soon():
    run = ResolverRun(SRV_AND_PLAIN).start()
    run.changes()
    del run.zone["svc.x", "A"]
    run.zone[SRV, "SRV"] = soa("NXDOMAIN", 20, 10)
    run.advance(62_000)
    assert run.backends == ["1.0.0.1:1"]
    assert run.machine.records.srv_at <= run.now + 10_000
    assert run.events[-1] == Updated(run.machine.last_error)
    assert "NXDOMAIN" in run.machine.last_error
    run.zone[SRV, "SRV"] = srv(("a.x", 1))
    run.advance(10_000)
    assert run.machine.last_error is None


def test_r18_srv_times_out_and_the_plain_name_serves():
    run = ResolverRun({**PLAIN, (SRV, "SRV"): TIMEOUT}).start().advance(1000)
    assert run.questions() == [(SRV, "SRV")] * 4 + [("svc.x", "AAAA"), ("svc.x", "A")]
    assert run.backends == ["1.0.0.9:99"]
    run.advance(60_000)
    assert (SRV, "SRV") in run.questions()


def test_r19_srv_errors_beside_known_addresses_wait_a_quarter_of_an_hour():
    run = ResolverRun({**PLAIN, (SRV, "SRV"): Reply("SERVFAIL")}).start().advance(61_000)
    run.zone["svc.x", "A"] = a("svc.x", "1.0.0.9")
    run.advance(60_000)
    run.questions()
    run.advance(830_000)
    assert run.questions() == []
    run.advance(30_000)
    assert run.questions()[0] == (SRV, "SRV")


def test_r20_no_srv_is_believed_as_long_as_the_soa_says():
    run = ResolverRun({**PLAIN, (SRV, "SRV"): soa("NOERROR", 30, 5)}).start()
    run.questions()
    run.advance(4900)
    assert run.questions() == []
    run.advance(200)
    assert run.questions() == [(SRV, "SRV")]


def test_r21_srv_refused_is_asked_once():
    run = ResolverRun({**PLAIN, (SRV, "SRV"): Reply("REFUSED")}).start()
    assert run.questions() == [(SRV, "SRV"), ("svc.x", "AAAA"), ("svc.x", "A")]


def test_r22_an_additional_address_is_not_asked_for():
    reply = srv(("a.x", 1), ("b.x", 2), additional=[Record("a.x", "A", 3600, "1.0.0.1")])
    run = ResolverRun({**TWO_TARGETS, (SRV, "SRV"): reply}).start()
    assert run.questions() == [(SRV, "SRV"), ("b.x", "AAAA"), ("b.x", "A")]
    assert run.backends == ["1.0.0.1:1", "::2:2"]


def test_r22_addresses_are_asked_for_when_they_come_along_no_more():
    extra = [Record("a.x", "A", 3600, "1.0.0.1")]
    run = ResolverRun({**TWO_TARGETS, (SRV, "SRV"): srv(("a.x", 1), ttl=1, additional=extra)})
    run.start().questions()
    run.zone[SRV, "SRV"] = srv(("a.x", 1))
    run.advance(1500)
    assert run.questions() == [(SRV, "SRV"), ("a.x", "AAAA"), ("a.x", "A")]
    assert run.backends == ["1.0.0.1:1"]


def test_r23_the_ttl_of_a_stranger_does_not_count():
    extra = [Record("stranger.x", "A", 7, "6.6.6.6"), Record("a.x", "A", 200, "1.0.0.1")]
    run = ResolverRun({(SRV, "SRV"): srv(("a.x", 1), ttl=300, additional=extra)}).start()
    assert run.backends == ["1.0.0.1:1"]
    assert run.machine.records.srv_at == 200_000


def test_r24_the_ttl_of_an_alias_counts():
    chain = Reply(
        "NOERROR", (Record("svc.x", "CNAME", 5, "real.x"), Record("real.x", "A", 40, "1.0.0.1"))
    )
    run = ResolverRun({**PLAIN, ("svc.x", "A"): chain}).start()
    assert run.backends == ["1.0.0.1:99"]
    assert run.machine.records.next_at("A") == 5000


@pytest.mark.parametrize(("ttl", "believed"), [(0, 5000), (1, 5000), (2**31 - 1, 3600_000)])
def test_r25_a_ttl_is_kept_between_floor_and_ceiling(ttl, believed):
    zone = {**PLAIN, ("svc.x", "A"): a("svc.x", "1.0.0.9", ttl=ttl)}
    run = ResolverRun(zone, ttl=TtlLimits()).start()
    run.questions()
    run.advance(believed - 2)
    assert run.questions() == []
    run.advance(1)
    assert ("svc.x", "A") in run.questions()


@pytest.mark.parametrize("chance", [0.0, 0.3, 0.999999])
def test_r26_a_sleep_is_up_to_a_fifth_longer(chance):
    run = ResolverRun(PLAIN, chance=lambda: chance).start()
    assert run.machine.wake_at == pytest.approx(60_000 * (1 + 0.2 * chance))


def test_r27_retries_follow_at_growing_delays():
    recovery = {"default": {"timeout": 100, "retries": 6, "delay": 20, "max_delay": 50}}
    run = ResolverRun({**PLAIN, ("svc.x", "A"): Reply("SERVFAIL")}, recovery=recovery)
    run.machine._chance = lambda: 0.5
    run.start().advance(1000)
    times = [at for at, _, rdtype, _ in run.asked if rdtype == "A"]
    gaps = [later - earlier for earlier, later in zip(times, times[1:], strict=False)]
    assert gaps[:6] == pytest.approx([20, 40, 50, 50, 50, 50])


def test_r28_as_many_nameservers_as_may_be_asked_at_once():
    zone = {(SRV, "SRV"): {f"ns{i}": (i, NXDOMAIN) for i in range(5)}}
    chances = iter([0.9, 0.5, 0.1] * 20)
    servers = [f"ns{i}" for i in range(5)]
    run = ResolverRun(zone, servers, chance=lambda: next(chances), max_dns_concurrency=3)
    run.start(settle=False)
    asked = [server for _, _, _, server in run.asked]
    assert len(set(asked)) == 3


def test_r28_the_first_good_answer_wins():
    good = a("svc.x", "1.0.0.1")
    zone = {**PLAIN, ("svc.x", "A"): {"ns1": (50, a("svc.x", "1.0.0.2")), "ns2": (5, good)}}
    run = ResolverRun(zone, ["ns1", "ns2"]).start().advance(100)
    assert run.backends == ["1.0.0.1:99"]


@pytest.mark.parametrize("bad", [Reply("SERVFAIL"), NODATA, NXDOMAIN, Reply("REFUSED")])
def test_r29_a_slow_good_answer_beats_fast_bad_ones(bad):
    slow = (40, a("svc.x", "1.0.0.1"))
    zone = {**PLAIN, ("svc.x", "A"): {"ns1": (5, bad), "ns2": (6, bad), "ns3": slow}}
    run = ResolverRun(zone, ["ns1", "ns2", "ns3"]).start().advance(50)
    assert run.backends == ["1.0.0.1:99"]
    assert len([1 for _, _, rdtype, _ in run.asked if rdtype == "A"]) == 3
