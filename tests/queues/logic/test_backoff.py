import math

from hypothesis import given
from hypothesis import strategies as st

from queues.logic.backoff import DAY_MS, checked, delay, exponential, foxx

units = st.integers(0, 10**9)
failures = st.integers(1, 10**6)
chances = st.floats(0, 1, exclude_max=True)


@given(units, failures, chances)
def test_backoff_stays_between_nothing_and_a_day(unit, n, chance):
    assert 0 <= exponential(unit, n, chance) <= DAY_MS
    assert 0 <= foxx(unit, n, chance) <= DAY_MS


@given(units, failures, chances)
def test_exponential_never_shrinks(unit, n, chance):
    assert exponential(unit, n, chance) <= exponential(unit, n + 1, chance)


@given(st.integers(4, DAY_MS // 2), chances)
def test_first_retry_comes_after_about_the_unit(unit, chance):
    assert 0.74 * unit - 1 <= exponential(unit, 1, chance) <= 1.26 * unit + 1


@given(st.integers(4, DAY_MS // 8))
def test_each_failure_doubles_the_wait(unit):
    assert exponential(unit, 2, 0.5) == 2 * unit
    assert exponential(unit, 3, 0.5) == 4 * unit


@given(failures, chances)
def test_unit_zero_is_no_delay(n, chance):
    assert delay("exponential", 0, n, chance) == delay("foxx", 0, n, chance) == 0


@given(units, chances)
def test_foxx_retries_at_once_the_first_time(unit, chance):
    assert delay("foxx", unit, 1, chance) == 0


@given(st.integers(1, 1000), st.integers(1, 1000), chances)
def test_foxx_waits_a_multiple_below_the_number_of_failures(unit, n, chance):
    wait = delay("foxx", unit, n, chance)
    assert wait % unit == 0
    assert wait // unit <= n - 1


@given(st.floats() | st.integers() | st.text() | st.booleans() | st.none())
def test_a_function_gives_a_duration_or_nothing(value):
    result = checked(value)
    assert result is None or 0 <= result <= DAY_MS


def test_no_duration_is_refused():
    assert [checked(value) for value in ("1", -1, math.nan, True, None)] == [None] * 5
    assert checked(math.inf) == DAY_MS
