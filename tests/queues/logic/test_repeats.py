"""Repetitions as sentences and as moments."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from queues.logic.repeats import (
    LAST_MOMENT,
    MOST_AHEAD,
    next_in_new_rhythm,
    next_in_step,
    next_runs,
    runs_said,
    until_said,
)

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


@given(st.integers(0, 10**7), st.integers(-1, 50), st.integers(0, 60))
def test_no_more_moments_than_runs_are_left(delay_ms, times, runs):
    found = next_runs(NOW, delay_ms, times, runs, None)
    assert len(found) == (MOST_AHEAD if times == -1 else min(MOST_AHEAD, max(0, times + 1 - runs)))
    assert found == sorted(found)


def test_after_the_end_at_most_one_more_begins():
    until = NOW + timedelta(seconds=7)
    seconds = [(at - NOW).seconds for at in next_runs(NOW, 5000, -1, 3, until)]
    assert seconds == [0, 5, 10]


def test_moments_beyond_the_last_one_are_left_out():
    far = datetime(9999, 12, 30, tzinfo=UTC)
    assert next_runs(far, 86_400_000, -1, 0, None) == [far, far + timedelta(days=1)]


def test_the_words():
    assert runs_said(-1, 37) == "37 of ∞"
    assert runs_said(3, 1) == "1 of 4"
    assert until_said(NOW + timedelta(days=1, hours=2), NOW) == "tomorrow 14:00"
    assert until_said(NOW + timedelta(days=9), NOW) == "2026-03-10 12:00"


@given(st.integers(-(10**9), 10**9), st.integers(0, 10**7))
def test_the_next_moment_is_in_step_and_the_first_that_is_not_over(ago_ms, delay_ms):
    due_at = NOW - timedelta(milliseconds=ago_ms)
    found = next_in_step(due_at, delay_ms, NOW)
    assert found >= max(NOW, due_at)
    if delay_ms and due_at < NOW:
        delay = timedelta(milliseconds=delay_ms)
        assert (found - due_at) % delay == timedelta(0) and found - delay < NOW


@given(st.integers(-(10**9), 10**9), st.integers(0, 10**9), st.integers(0, 10**9))
def test_a_new_rhythm_begins_at_the_run_before_and_moves_nothing_that_is_due(ahead, old, new):
    due_at = NOW + timedelta(milliseconds=ahead)
    found = next_in_new_rhythm(due_at, old, new, NOW)
    assert found == due_at if due_at <= NOW else found >= NOW
    if due_at > NOW and new:
        delay = timedelta(milliseconds=new)
        steps, rest = divmod(found - (due_at - timedelta(milliseconds=old)), delay)
        assert rest == timedelta(0) and (steps == 1 or found - delay < NOW)


def test_a_rhythm_may_end_with_time_itself():
    far = datetime(9999, 12, 30, tzinfo=UTC)
    assert next_in_new_rhythm(far, 0, 10**10, NOW) == LAST_MOMENT
