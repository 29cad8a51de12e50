"""How fast a drain may go, and what it would move."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from allocation.logic.drain import Move, Progress, arrivals, moves_due, plan, replan

START = datetime(2026, 1, 1, tzinfo=UTC)


def progress(moved=0, remaining=10, deadline_seconds=None):
    deadline = None if deadline_seconds is None else START + timedelta(seconds=deadline_seconds)
    return Progress(moved + remaining, moved, remaining, START, deadline)


def after(seconds):
    return START + timedelta(seconds=seconds)


@given(
    st.integers(0, 1000),
    st.integers(0, 1000),
    st.none() | st.integers(0, 3600),
    st.none() | st.integers(1, 10_000),
    st.integers(0, 7200),
    st.integers(0, 500),
)
def test_never_more_than_are_left_nor_than_a_sweep_may(moved, left, deadline, pace, seconds, most):
    due = moves_due(progress(moved, left, deadline), pace, after(seconds), most)
    assert 0 <= due <= min(left, most)


@given(st.integers(1, 10_000), st.integers(0, 3600))
def test_the_pace_is_kept_over_any_time(pace, seconds):
    due = moves_due(progress(remaining=10**9), pace, after(seconds), 10**9)
    assert due == seconds * pace // 60


def test_without_pace_nothing_moves_before_the_deadline_and_all_after_it():
    waiting = progress(remaining=7, deadline_seconds=60)
    assert moves_due(waiting, None, after(59), 100) == 0
    assert moves_due(waiting, None, after(60), 100) == 7


def test_a_clock_that_went_back_moves_nothing():
    assert moves_due(progress(), 60, after(-5), 100) == 0


@given(st.integers(0, 100), st.integers(0, 100))
def test_the_fraction_lies_between_nothing_and_all(moved, remaining):
    found = progress(moved, remaining)
    assert 0 <= found.fraction <= 1
    assert (remaining == 0) == (found.fraction == 1)


def test_an_empty_drain_is_not_overdue():
    assert not progress(remaining=0, deadline_seconds=1).is_overdue(after(5))
    assert progress(remaining=1, deadline_seconds=1).is_overdue(after(1))


def test_a_plan_leaves_out_who_stays_and_who_has_nowhere_to_go():
    placed = [("a", "x"), ("b", "x"), ("c", "x")]
    moves = plan(placed, {"a": "y", "b": "x", "c": None}.get)
    assert moves == [Move("a", "x", "y")]
    assert arrivals(moves) == {"y": 1}


@given(st.lists(st.sampled_from("xyz"), max_size=30), st.integers(0, 10))
def test_going_on_where_it_ended_replans_every_job_once(sources, most):
    placed = [(f"job{n}", source) for n, source in enumerate(sources)]
    asked, found = [], []
    while placed and most:
        moves, looked_at = replan(placed, lambda job_id, source: asked.append(job_id) or "x", most)
        assert len(moves) <= most and looked_at >= 1
        found, placed = found + moves, placed[looked_at:]
    assert asked == [f"job{n}" for n in range(len(asked))]
    assert all(move.source != move.target == "x" for move in found)
