"""The scenarios P1 to P14 and P17 to P21 of the specification, in their improved form."""

import pytest

from pools.logic.errors import (
    BackendConnectionError,
    ClaimQueueFullError,
    ClaimTimeoutError,
    ConnectionTimeoutError,
    InvalidInput,
    NoBackendsError,
    PoolFailedError,
    PoolStoppingError,
)
from tests.pools.pool.pool_run import RECOVERY, PoolRun

ONE_RETRY = {"default": {**RECOVERY["default"], "retries": 1}}


def test_p1_without_backends_a_claim_fails_or_times_out():
    run = PoolRun()
    with pytest.raises(NoBackendsError):
        run.claim("a", error_on_empty=True)
    run.claim("b", timeout_ms=100).advance(99)
    assert run.answers == {}
    run.advance(1)
    assert isinstance(run.slot("b"), ClaimTimeoutError)


def test_p2_claims_wait_for_the_connection():
    run = PoolRun(maximum=2)
    run.nets["b1"] = "manual"
    run.add("b1").claim("a", timeout_ms=50).advance(50)
    assert isinstance(run.slot("a"), ClaimTimeoutError)
    run.finish("b1").claim("b").claim("c").claim("d", timeout_ms=100).advance(100)
    assert [run.slot(h).state for h in "bc"] == ["busy", "busy"]
    assert isinstance(run.slot("d"), ClaimTimeoutError)


def test_p3_without_spares_connections_are_made_on_demand():
    run = PoolRun("b1", "b2", spares=0, maximum=2).advance(10)
    assert run.connections == []
    run.claim("a")
    assert len(run.open_connections()) == 1
    run.claim("b").claim("c")
    assert {run.slot(h).key for h in "ab"} == {"b1", "b2"}
    assert "c" not in run.answers


def test_p4_new_backends_get_their_share_and_maximum_holds():
    run = PoolRun("b1", "b2", spares=4, maximum=4)
    assert run.shape() == {"b1": {"idle": 2}, "b2": {"idle": 2}}
    run.add("b3").add("b4")
    assert run.shape() == {f"b{i}": {"idle": 1} for i in (1, 2, 3, 4)}
    assert run.most_open == 4


def test_p5_an_idle_connection_closed_by_its_peer_is_replaced_at_once():
    run = PoolRun("b1", spares=1).advance(2000)
    run.attempts.clear()
    run.lose(run.connections[0])
    assert run.attempts == [(2000, "b1", 100)]
    assert run.shape() == {"b1": {"idle": 1}}


def test_p6_a_connection_that_broke_while_claimed_is_replaced_after_a_delay():
    run = PoolRun("b1", spares=1, maximum=1).advance(2000).claim("a")
    old = run.connections[0]
    run.lose(old, BackendConnectionError("reset"))
    assert run.shape() == {"b1": {"busy": 1}}
    run.attempts.clear()
    run.release("a")
    assert not old.is_open
    assert run.attempts == []
    run.advance(20)
    assert [at for at, _, _ in run.attempts] == [2020]


def test_p7_a_dead_backend_is_watched_by_one_connection():
    run = PoolRun("b1", "b2", maximum=3, recovery=ONE_RETRY).advance(2000)
    run.nets["b2"] = "refuse"
    run.lose(next(c for c in run.open_connections() if c.key == "b2"))
    run.advance(100)
    assert set(run.machine.roster.dead) == {"b2"}
    assert run.shape()["b1"] == {"idle": 2}
    assert sum(run.shape()["b2"].values()) == 1
    run.remove("b2")
    assert run.shape() == {"b1": {"idle": 2}}


def test_p8_all_dead_is_failed_until_the_monitor_connects():
    run = PoolRun()
    run.nets["b1"] = "refuse"
    run.add("b1").claim("a").advance(200)
    assert run.state == "failed"
    assert isinstance(run.slot("a"), PoolFailedError)
    assert "b1 refused" in str(run.slot("a").__cause__)
    assert len(run.machine.slots) == 1
    with pytest.raises(PoolFailedError):
        run.claim("b")
    run.nets["b1"] = "ok"
    run.advance(200)
    assert run.states == ["failed", "running"]
    assert run.machine.roster.dead == {}


def test_p9_a_failure_within_the_retries_is_no_death():
    run = PoolRun(spares=1)
    run.nets["b1"] = "refuse"
    run.add("b1").advance(70)
    run.nets["b1"] = "ok"
    run.advance(100)
    assert run.states == ["running"]
    assert run.machine.counters["max-dead-backends"] == 0


def test_p10_a_removed_backend_is_not_declared_dead():
    run = PoolRun("b1", spares=2)
    run.nets["b2"] = "manual"
    run.add("b2")
    attempts = list(run.pending["b2"])
    run.remove("b2")
    for slot_id, serial, _ in attempts:
        run.machine.slots.connect_failed(slot_id, serial, OSError("late"), run.now)
    run.settle().advance(1000)
    assert (run.machine.roster.dead, run.state) == ({}, "running")


def test_p11_attempts_against_a_black_hole():
    fields = {"timeout": 300, "retries": 3, "delay": 20, "delay_spread": 0}
    run = PoolRun(recovery={"default": fields}, spares=1, maximum=1)
    run.nets["b1"] = "hang"
    run.add("b1").advance(4639)
    assert [at for at, _, _ in run.attempts] == [0, 320, 960, 2240]
    assert run.machine.roster.dead == {}
    run.advance(1)
    assert run.machine.roster.dead["b1"].at == 4640
    assert run.attempts[-1] == (4640, "b1", 2400)
    run.advance(2400 + 160)
    assert run.attempts[-1] == (4640 + 2560, "b1", 2400)
    assert "b1.x (10.0.0.1:80) did not connect within" in str(run.machine.last_error)


def test_p12_a_cancelled_claim_leaves_the_queue_at_once():
    run = PoolRun("b1", spares=0, maximum=1).claim("a").claim("b").claim("c")
    assert run.machine.cancel("b")
    assert run.machine.stats()["waiter_count"] == 1
    run.release("a")
    assert "b" not in run.answers
    assert run.slot("c").state == "busy"


def test_p13_only_idle_connections_are_checked():
    run = PoolRun("b1", spares=2, maximum=5, check_timeout=100).claim("a")
    held = run.slot("a").connection
    run.advance(1000)
    assert len(run.checked) > 10
    assert held not in {connection for _, connection in run.checked}
    assert len(run.connections) == 3


def test_p14_churn_is_limited_per_backend():
    run = PoolRun("b1", spares=4, maximum=4, max_churn_rate=4)
    counts = [len(run.connections)]
    for ms in (249, 1, 249, 1, 249, 1):
        counts.append(len(run.advance(ms).connections))
    assert counts == [1, 1, 2, 2, 3, 3, 4]


def test_p17_no_timeout_beside_a_target_delay():
    run = PoolRun("b1", target_claim_delay=300)
    with pytest.raises(InvalidInput):
        run.claim("a", timeout_ms=100)


def test_p18_a_burst_shrinks_slowly_and_never_below_the_spares():
    run = PoolRun("b1", spares=2, maximum=20)
    for i in range(10):
        run.claim(i)
    assert len(run.open_connections()) == 12
    run.advance(5000)
    for i in range(10):
        run.release(i)
    sizes = []
    for _ in range(60):
        sizes.append(len(run.advance(200).open_connections()))
    assert sizes[0] > 8
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] == 2


def test_p18_a_request_now_and_then_opens_no_connection_each_time():
    run = PoolRun("b1", spares=4, maximum=8)
    for i in range(20):
        run.claim(i).advance(3).release(i).advance(300)
    assert len(run.attempts) < 10


def test_p19_stop_waits_for_leases_and_refuses_everybody_else():
    run = PoolRun("b1", spares=0, maximum=1).claim("a").claim("b")
    run.machine.stop(run.now)
    run.settle()
    assert run.state == "stopping"
    assert isinstance(run.slot("b"), PoolStoppingError)
    with pytest.raises(PoolStoppingError):
        run.claim("c")
    run.release("a")
    assert run.state == "stopped"
    assert run.open_connections() == []


def test_p19_a_deadline_takes_the_leases_away():
    run = PoolRun("b1").claim("a")
    run.machine.stop(run.now, drain_ms=500)
    run.settle().advance(499)
    assert run.state == "stopping"
    run.advance(1)
    assert run.state == "stopped"
    assert run.revoked == {"a": "the pool is stopping"}


def test_p20_without_backends_a_pool_is_empty_and_not_failed():
    run = PoolRun("b1").remove("b1")
    assert (run.state, run.machine.roster.backends) == ("running", {})
    run.claim("a").add("b1")
    assert run.slot("a").state == "busy"
    assert run.state == "running"


def test_p21_stats_in_each_phase():
    run = PoolRun(spares=1, maximum=2)
    run.nets["b1"] = "manual"

    def numbers():
        stats = run.machine.stats()
        assert list(stats)[0] == "counters"
        return tuple(stats.values())[1:]

    assert numbers() == (0, 0, 0, 0)
    run.add("b1")
    assert numbers() == (1, 0, 1, 0)
    run.finish("b1")
    assert numbers() == (1, 1, 0, 0)
    run.claim("a")
    assert numbers() == (2, 0, 1, 0)
    run.finish("b1").claim("b").claim("c")
    assert numbers() == (2, 0, 0, 1)
    counters = run.machine.stats()["counters"]
    assert (counters["claim"], counters["queued-claim"], counters["max-claim-queue"]) == (3, 1, 1)


def test_idle_connections_take_turns():
    run = PoolRun("b1", spares=3, maximum=3)
    order = []
    for i in range(6):
        order.append(run.claim(i).slot(i).id)
        run.release(i)
    assert order == [1, 2, 3, 1, 2, 3]


def test_waiting_claims_are_served_in_order():
    run = PoolRun("b1", spares=0, maximum=1).claim("a").claim("b").claim("c")
    run.release("a")
    assert "c" not in run.answers
    run.release("b")
    assert run.slot("c").state == "busy"


def test_too_many_waiting_claims_are_refused():
    run = PoolRun(max_waiting=2).claim("a").claim("b")
    with pytest.raises(ClaimQueueFullError):
        run.claim("c")


def test_initial_is_for_the_first_success_only():
    fields = RECOVERY["default"]
    recovery = {"default": fields, "initial": {**fields, "timeout": 7}}
    run = PoolRun("b1", spares=1, recovery=recovery).advance(2000)
    run.lose(run.connections[0])
    assert [timeout for _, _, timeout in run.attempts] == [7, 100]


def test_a_timed_out_claim_opens_no_connection():
    run = PoolRun(spares=0).claim("a", timeout_ms=10).claim("b", timeout_ms=10).advance(20)
    run.add("b1").advance(1000)
    assert run.connections == []
    assert run.machine.stats()["waiter_count"] == 0


def test_a_removed_backend_drains_and_its_lease_counts():
    run = PoolRun("b1", spares=2, maximum=2).claim("a").claim("b").remove("b1").add("b2")
    assert run.most_open == 2
    assert len(run.connections) == 2
    run.release("a").advance(0)
    assert [c.key for c in run.open_connections()] == ["b1", "b2"]
    run.release("b")
    assert {c.key for c in run.open_connections()} == {"b2"}
    assert run.most_open == 2


def test_a_late_connection_is_closed():
    run = PoolRun(spares=1, maximum=1)
    run.nets["b1"] = "manual"
    run.add("b1")
    ((slot_id, serial, to),) = run.pending["b1"]
    run.advance(101)
    run._connected(slot_id, serial, to)
    run.settle()
    assert run.open_connections() == []
    assert isinstance(run.machine.last_error, ConnectionTimeoutError)


def test_an_attempt_that_nobody_needs_any_more_still_takes_its_place():
    run = PoolRun(spares=0, maximum=1)
    run.nets["b1"] = "manual"
    run.add("b1").add("b2").claim("a")
    assert run.shape() == {"b1": {"connecting": 1}}
    run.remove("b1")
    assert run.shape() == {"b1": {"connecting": 1}}
    run.finish("b1")
    assert run.slot("a").key == "b2"
    assert run.most_open == 1
