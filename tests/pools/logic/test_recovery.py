"""Recovery specifications: what is accepted, and the waits that follow (P22)."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pools.logic.errors import InvalidInput
from pools.logic.recovery import Recovery, RecoverySpec

GOOD = {"retries": 3, "timeout": 100, "delay": 20}


def spec(**fields):
    return RecoverySpec({"default": {**GOOD, **fields}})


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"retries": 0},
        {"retries": 2.5},
        {"delay": 0},
        {"max_timeout": 100},
        {"max_delay": 20},
        {"max_delay": math.inf, "max_timeout": math.inf, "retries": 40},
        {"delay_spread": 0},
        {"delay_spread": 1},
    ],
)
def test_p22_accepts(fields):
    recovery = spec(**fields).operation("default")
    assert all(getattr(recovery, name) == value for name, value in fields.items())


@pytest.mark.parametrize(
    "fields",
    [
        {"retries": -1},
        {"retries": math.inf},
        {"retries": math.nan},
        {"retries": "3"},
        {"retries": True},
        {"retries": None},
        {"timeout": 0},
        {"timeout": math.inf},
        {"max_timeout": 99},
        {"max_timeout": math.nan},
        {"max_timeout": "long"},
        {"delay": -1},
        {"max_delay": 19},
        {"delay_spread": 1.1},
        {"delay_spread": -0.1},
        {"delay_spread": None},
        {"jitter": 1},
        {"retries": 32},
        {"retries": 31},
    ],
)
def test_p22_refuses(fields):
    with pytest.raises(InvalidInput):
        spec(**fields)


@pytest.mark.parametrize("bad", [None, 3, {"default": None}])
def test_wrong_types(bad):
    with pytest.raises(TypeError):
        RecoverySpec(bad)


@pytest.mark.parametrize("bad", [{}, {"dns": GOOD}, {"default": GOOD, "srv": GOOD}])
def test_wrong_operations(bad):
    with pytest.raises(InvalidInput):
        RecoverySpec(bad)


def test_operations_fall_back():
    recovery = RecoverySpec({"default": GOOD, "dns": {**GOOD, "timeout": 7}})
    assert recovery.operation("dns_srv").timeout == 7
    assert recovery.operation("initial").timeout == 100
    assert RecoverySpec(recovery).operation("connect").timeout == 100


def test_a_spread_or_ceiling_of_zero_is_zero():
    recovery = spec(delay=0, max_delay=0, delay_spread=0).operation("default")
    assert [recovery.delay_ms(n, 0.9) for n in (1, 5)] == [0, 0]


def test_delays_double_up_to_the_ceiling():
    recovery = spec(retries=6, max_delay=50, delay_spread=0).operation("dns")
    assert [recovery.delay_ms(n, 0.5) for n in range(1, 7)] == [20, 40, 50, 50, 50, 50]


def test_a_monitor_bears_any_number_of_retries():
    fields = {"timeout": 1, "retries": 5000, "delay": 1, "max_timeout": 9, "max_delay": 7}
    monitor = RecoverySpec({"default": fields}).operation("connect").monitoring()
    assert (monitor.timeout, monitor.delay) == (9, 7)


def test_a_monitor_is_as_slow_as_it_gets():
    monitor = spec(timeout=300, delay_spread=0).operation("connect").monitoring()
    assert (monitor.timeout_ms(9), monitor.delay_ms(9, 0.5)) == (2400, 160)


@given(
    st.builds(
        Recovery,
        retries=st.integers(0, 20),
        timeout=st.floats(1, 1e5),
        delay=st.floats(0, 1e5),
        max_delay=st.floats(1e5, 1e6),
        delay_spread=st.floats(0, 1),
    ),
    st.integers(1, 20),
    st.floats(0, 1),
)
def test_a_delay_stays_inside_its_spread(recovery, failures, chance):
    middle = recovery.delay_ms(failures, 0.5)
    half = middle * recovery.delay_spread / 2
    slack = middle * 1e-9 + 1e-9
    assert middle - half - slack <= recovery.delay_ms(failures, chance) <= middle + half + slack
    assert middle <= recovery.delay_ms(failures + 1, 0.5) + slack
