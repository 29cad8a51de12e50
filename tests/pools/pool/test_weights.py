"""The weights of SRV records hold, however many claims there are at once."""

import threading
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pools.logic.pool.rebalance import apportion, plan_weighted
from tests.pools.pool.pool_run import PoolRun

WEIGHTS = st.dictionaries(st.text(min_size=1), st.integers(1, 1000), min_size=1, max_size=8)


@given(WEIGHTS, st.integers(0, 100))
def test_all_is_divided_and_nobody_is_far_from_his_share(weights, count):
    shares = apportion(weights, count)
    assert sum(shares.values()) == count
    total = sum(weights.values())
    for key, share in shares.items():
        assert share >= min(1, count // len(weights))
        assert share <= count * weights[key] / total + len(weights)


def test_connections_are_opened_by_weight():
    plan = plan_weighted([("a", []), ("b", [])], {"a": 80, "b": 20}, set(), 10, 10)
    assert Counter(plan.add) == {"a": 8, "b": 2}


def test_a_dead_backend_is_watched_by_one_connection():
    plan = plan_weighted([("a", []), ("b", [])], {"a": 80, "b": 20}, {"a"}, 4, 10)
    assert Counter(plan.add) == {"a": 1, "b": 4}


@pytest.mark.parametrize("claimants", [1, 8])
def test_weights_hold_under_load(claimants):
    run = PoolRun(spares=2, maximum=10)
    run.add("b1", weight=80).add("b2", weight=20)
    held, served = [], Counter()
    for number in range(1000):
        if len(held) == claimants:
            run.release(held.pop(0))
        run.claim(number)
        run.advance(1)
        held.append(number)
        served[run.slot(number).key] += 1
    assert 0.75 <= served["b1"] / 1000 <= 0.85


def test_weights_hold_with_eight_threads(dns_server):
    """Against two real servers, each counting what it is asked."""
    from pools import HttpAgent
    from tests.pools.http.web import Web

    with Web() as heavy, Web() as light:
        srv = [(0, 80, heavy.port, "a.svc.example"), (0, 20, light.port, "a.svc.example")]
        dns_server.set("_http._tcp.svc.example", "SRV", srv)
        dns_server.set("a.svc.example", "A", ["127.0.0.1"])
        with HttpAgent(spares=8, maximum=10, resolvers=[f"127.0.0.1:{dns_server.port}"]) as agent:

            def work():
                for _ in range(60):
                    assert agent.get("http://svc.example/").status == 200

            threads = [threading.Thread(target=work) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        assert 0.70 <= len(heavy.requests) / 480 <= 0.90
