"""Ejection by results, health checks with rise and fall, priorities, weights, leases, delay."""

from collections import Counter

import pytest

from pools.logic.errors import ClaimTimeoutError, InvalidInput, PoolFailedError
from pools.logic.pool.health import HealthPolicy, OutlierPolicy
from tests.pools.pool.pool_run import PoolRun


def fail(run, key, times):
    """Let results of this backend be bad that often in a row."""
    for i in range(times):
        held = []
        while True:
            run.claim(("f", i, len(held)))
            held.append(("f", i, len(held)))
            if run.slot(held[-1]).key == key:
                break
        for holder in held[:-1]:
            run.release(holder, ok=None)
        run.release(held[-1], ok=False)


# -- outlier ejection ------------------------------------------------------------------------


def test_a_backend_with_bad_results_rests():
    run = PoolRun("b1", "b2", maximum=8).advance(2000)
    fail(run, "b1", 4)
    assert "b1" in run.shape()
    fail(run, "b1", 1)
    assert "b1" not in run.shape()
    assert run.machine.counters["ejected"] == 1
    run.advance(29_999)
    assert "b1" not in run.shape()
    run.advance(12_000)
    assert "b1" in run.shape()


def test_a_second_rest_is_longer():
    run = PoolRun("b1", "b2", maximum=8).advance(2000)
    fail(run, "b1", 5)
    run.advance(31_000)
    fail(run, "b1", 5)
    assert run.machine.roster.outliers.ejected["b1"] == run.now + 60_000


def test_a_good_result_clears_the_count():
    run = PoolRun("b1", "b2", maximum=8).advance(2000)
    for _ in range(4):
        fail(run, "b1", 4)
        run.claim("good")
        held = ["good"]
        while run.slot(held[-1]).key != "b1":
            held.append(f"good{len(held)}")
            run.claim(held[-1])
        for holder in held:
            run.release(holder)
    assert run.machine.roster.outliers.ejected == {}


def test_the_last_backend_is_never_sent_to_rest():
    run = PoolRun("b1").advance(2000)
    fail(run, "b1", 50)
    assert run.machine.roster.outliers.ejected == {}


def test_whoever_rests_is_called_back_when_all_others_are_dead():
    run = PoolRun("b1", "b2", maximum=8).advance(2000)
    fail(run, "b1", 5)
    assert list(run.machine.roster.outliers.ejected) == ["b1"]
    run.nets["b2"] = "refuse"
    for connection in run.open_connections():
        run.lose(connection)
    run.advance(5000).claim("one")
    assert run.advance(100).slot("one").key == "b1"


def test_only_a_share_rests_at_once():
    run = PoolRun("b1", "b2", "b3", spares=6, maximum=9).advance(2000)
    fail(run, "b1", 5)
    fail(run, "b2", 20)
    assert set(run.machine.roster.outliers.ejected) == {"b1"}


def test_ejection_can_be_switched_off():
    run = PoolRun("b1", "b2", maximum=8, outliers=None).advance(2000)
    fail(run, "b1", 20)
    assert "b1" in run.shape()


def test_ejection_has_its_own_numbers():
    policy = OutlierPolicy(failures=1, base_ms=100, max_share=1.0)
    run = PoolRun("b1", "b2", maximum=8, outliers=policy).advance(2000)
    fail(run, "b1", 1)
    assert "b1" not in run.shape()
    run.advance(100)
    assert run.machine.roster.outliers.ejected == {}


# -- health checks ---------------------------------------------------------------------------


def test_a_backend_that_fails_its_checks_is_dead_and_not_hammered():
    run = PoolRun("b1", spares=1, maximum=2, check_timeout=50)
    run.checks["b1"] = "bad"
    run.advance(400)
    assert run.state == "failed"
    assert run.machine.roster.dead["b1"].kind == "check"
    with pytest.raises(PoolFailedError):
        run.claim("a")
    checks = len(run.checked)
    run.advance(5000)
    assert 5 < len(run.checked) - checks < 60
    run.checks["b1"] = "ok"
    run.advance(1000)
    assert run.state == "running"


def test_rise_is_a_number_of_good_checks():
    run = PoolRun("b1", spares=1, check_timeout=50, health=HealthPolicy(rise=3, fall=2))
    run.checks["b1"] = "bad"
    run.advance(300)
    assert run.state == "failed"
    run.checks["b1"] = "ok"
    run.checked.clear()
    while run.state == "failed":
        run.advance(1)
    assert len(run.checked) == 3


def test_fewer_failures_than_fall_are_no_death():
    run = PoolRun("b1", spares=1, check_timeout=50)
    run.checks["b1"] = "bad"
    run.advance(110)
    run.checks["b1"] = "ok"
    run.advance(1000)
    assert run.states == ["running"]
    assert run.machine.counters["check-failed"] == 2


def test_a_check_that_hangs_times_out_and_counts_as_failed():
    run = PoolRun("b1", spares=1, maximum=1, check_timeout=50, check_limit=30)
    run.checks["b1"] = "hang"
    run.advance(79)
    assert run.shape() == {"b1": {"checking": 1}}
    run.advance(2)
    assert run.machine.counters["check-failed"] == 1
    assert len(run.open_connections()) == 1
    run.advance(300)
    assert run.state == "failed"


def test_a_backend_that_accepts_and_hangs_up_becomes_dead():
    run = PoolRun("b1", spares=1, maximum=1)
    for _ in range(20):
        for connection in run.open_connections():
            run.lose(connection)
        run.advance(30)
    assert run.machine.roster.dead["b1"].kind == "flap"
    assert run.state == "failed"
    assert len(run.connections) < 10
    run.advance(3000)
    assert run.state == "running"


def test_closing_a_handle_is_no_failure_of_the_backend():
    run = PoolRun("b1", spares=1, maximum=1).advance(2000)
    for i in range(10):
        run.claim(i).discard(i)
    assert run.states == ["running"]
    assert run.machine.roster.dead == {}


def test_closing_many_handles_uses_up_no_attempt():
    run = PoolRun("b1", spares=1, maximum=1)
    for i in range(10):
        run.claim(i).discard(i)
    assert {timeout for _, _, timeout in run.attempts} == {100}
    run.nets["b1"] = "refuse"
    run.claim("last").discard("last").advance(30)
    assert run.state == "running"


def test_a_check_causes_no_growth():
    run = PoolRun("b1", spares=2, maximum=9, check_timeout=50)
    run.checks["b1"] = "hang"
    run.advance(60)
    assert len(run.connections) == 2


def test_death_asks_the_resolver_to_look_again():
    run = PoolRun()
    run.nets["b1"] = "refuse"
    run.add("b1").advance(1000)
    assert run.resolves >= 1


# -- priorities and weights ------------------------------------------------------------------


def test_only_the_best_priority_is_used():
    run = PoolRun().add("b1", priority=10).add("b2", priority=20)
    assert set(run.shape()) == {"b1"}


def test_the_next_priority_serves_when_the_best_is_dead_and_leaves_when_it_is_back():
    run = PoolRun().add("b1", priority=10).add("b2", priority=20).advance(2000)
    run.nets["b1"] = "refuse"
    for connection in run.open_connections():
        run.lose(connection)
    run.advance(200)
    assert run.shape()["b2"] == {"idle": 2}
    assert run.claim("a").slot("a").key == "b2"
    run.release("a")
    run.nets["b1"] = "ok"
    run.advance(2000)
    assert set(run.shape()) == {"b1"}


def test_weights_share_the_claims():
    run = PoolRun(spares=4, maximum=4).add("b1", weight=90).add("b2", weight=10)
    served = Counter()
    for i in range(100):
        served[run.claim(i).slot(i).key] += 1
        run.release(i)
    assert 85 <= served["b1"] <= 95


def test_weights_that_change_count_for_connections_that_are_open():
    run = PoolRun(spares=4, maximum=4).add("b1", weight=90).add("b2", weight=10)
    run.add("b1", weight=10).add("b2", weight=90)
    served = Counter()
    for i in range(100):
        served[run.claim(i).slot(i).key] += 1
        run.release(i)
    assert 85 <= served["b2"] <= 95


def test_weight_zero_is_hardly_ever_but_not_never():
    run = PoolRun(spares=4, maximum=4).add("b1", weight=10).add("b2", weight=0)
    served = Counter()
    for i in range(1000):
        served[run.claim(i).slot(i).key] += 1
        run.release(i)
    assert 1 <= served["b2"] <= 20


@pytest.mark.parametrize("balance", ["least_busy", "p2c"])
def test_the_less_busy_backend_is_chosen(balance):
    run = PoolRun("b1", "b2", spares=6, maximum=12, balance=balance)
    for i in range(6):
        run.claim(i)
    busy = Counter(run.slot(i).key for i in range(6))
    assert abs(busy["b1"] - busy["b2"]) <= 2


def test_unknown_balance():
    with pytest.raises(InvalidInput):
        PoolRun(balance="magic")


# -- leases ----------------------------------------------------------------------------------


def test_a_lease_that_is_too_long_is_taken_away():
    run = PoolRun("b1", maximum=1, spares=0, max_lease=500).claim("a")
    run.advance(250).claim("b")
    run.advance(249)
    assert run.revoked == {}
    run.advance(300)
    assert "a" in run.revoked
    assert run.machine.counters["lease-expired"] == 1
    assert run.slot("b").state == "busy"


def test_a_lease_in_time_is_left_alone():
    run = PoolRun("b1", max_lease=500)
    for i in range(10):
        run.claim(i).advance(400).release(i)
    assert run.revoked == {}


# -- controlled delay ------------------------------------------------------------------------


@pytest.mark.parametrize("target", [300, 1000, 2500, 5000])
def test_p16_the_mean_delay_stays_near_the_target(target):
    """500 claims a second on two connections that need 50 ms each."""
    run = PoolRun("b1", spares=2, maximum=2, target_claim_delay=target, max_waiting=None)
    run.advance(100)
    asked, waited, ends, refused = {}, [], [], 0
    steps = 2500 + 4 * target
    for step in range(steps):
        while ends and ends[0][0] <= run.now:
            run.release(ends[0][1])
            del run.answers[ends.pop(0)[1]]
        asked[step] = run.now
        run.claim(step)
        for holder in [holder for holder in run.answers if holder in asked]:
            began = asked.pop(holder)
            if isinstance(run.slot(holder), ClaimTimeoutError):
                refused += 1
                del run.answers[holder]
            else:
                waited.append((run.now, run.now - began))
                ends.append((run.now + 50, holder))
        run.advance(2)
    settled = [delay for at, delay in waited if at > steps]
    assert abs(sum(settled) / len(settled) - target) <= 175
    assert refused
    assert len(waited) + refused + len(run.machine.queue) == steps
