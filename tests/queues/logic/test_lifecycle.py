from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from queues.logic.lifecycle import Counts, Outcome, Policy, Status, after

START = datetime(2026, 1, 1, tzinfo=UTC)
OK, BAD, LOST = Outcome.COMPLETE, Outcome.FAILED, Outcome.LOST
FOREVER = -1
LIMIT = 60


@dataclass
class Story:
    """A job played to its end: how often it ran, what was called, how it ended."""

    executions: int = 0
    callbacks: list[str] = field(default_factory=list)
    counts: Counts = Counts()
    status: Status = Status.PENDING
    due_at: datetime = START


def play(policy, outcomes, *, seconds=0.0, back_off_ms=0) -> Story:
    """`outcomes(n)` says how the n-th execution ends; each takes `seconds`."""
    story = Story()
    while story.status is Status.PENDING and story.executions < LIMIT:
        started = story.due_at
        ended = started + timedelta(seconds=seconds)
        outcome = outcomes(story.executions)
        story.executions += 1
        step = after(
            policy,
            story.counts,
            outcome,
            started_at=started,
            now=ended,
            back_off_ms=back_off_ms,
        )
        story.status, story.counts = step.status, step.counts
        story.due_at = max(step.due_at or ended, ended)
        story.callbacks += [step.callback.value] if step.callback else []
    return story


def always(outcome):
    return lambda n: outcome


def fails_at(*numbers):
    return lambda n: BAD if n in numbers else OK


TABLE = [
    # policy, outcomes, executions, status, finished runs, callbacks
    (Policy(), always(OK), 1, "complete", 1, "s"),
    (Policy(), always(BAD), 1, "failed", 1, "f"),
    (Policy(max_failures=3), always(BAD), 4, "failed", 1, "f"),
    (Policy(max_failures=FOREVER), always(BAD), LIMIT, "pending", 0, ""),
    (Policy(repeat_times=0), always(OK), 1, "complete", 1, "s"),
    (Policy(repeat_times=1), always(OK), 2, "complete", 2, "ss"),
    (Policy(repeat_times=2), always(OK), 3, "complete", 3, "sss"),
    (Policy(repeat_times=2), always(BAD), 3, "failed", 3, "fff"),
    (Policy(repeat_times=2, max_failures=1), always(BAD), 6, "failed", 3, "fff"),
    (Policy(repeat_times=3), fails_at(1), 4, "complete", 4, "sfss"),
    (Policy(repeat_times=3, max_failures=1), fails_at(1), 5, "complete", 4, "ssss"),
    (Policy(repeat_times=FOREVER), always(OK), LIMIT, "pending", LIMIT, "s" * LIMIT),
    (Policy(repeat_delay_ms=1000), always(OK), 1, "complete", 1, "s"),
    (Policy(), always(LOST), 3, "failed", 1, "f"),
    (Policy(max_failures=FOREVER), always(LOST), 3, "failed", 1, "f"),
    (Policy(repeat_times=1), always(LOST), 6, "failed", 2, "ff"),
]


@pytest.mark.parametrize(("policy", "outcomes", "executions", "status", "runs", "calls"), TABLE)
def test_table_of_promises(policy, outcomes, executions, status, runs, calls):
    story = play(policy, outcomes)
    assert story.executions == executions
    assert story.status == status
    assert story.counts.runs == runs
    assert "".join(call[0] for call in story.callbacks) == calls


@given(st.integers(0, 5), st.integers(0, 5))
def test_an_always_failing_job_executes_exactly_k_plus_1_times_n_plus_1(k, n):
    story = play(Policy(max_failures=k, repeat_times=n), always(BAD))
    assert story.executions == (k + 1) * (n + 1)
    assert story.callbacks == ["failure"] * (n + 1)


@given(st.integers(0, 4), st.integers(0, 4), st.lists(st.sampled_from([OK, BAD, LOST])))
def test_every_finite_job_ends_within_its_limits(k, n, outcomes):
    scripted = dict(enumerate(outcomes))
    story = play(Policy(max_failures=k, repeat_times=n), lambda i: scripted.get(i, OK))
    assert story.status in {Status.COMPLETE, Status.FAILED}
    assert story.counts.runs == len(story.callbacks) == n + 1


@given(st.sampled_from(list(Outcome)), st.integers(0, 9), st.integers(0, 9), st.integers(0, 2))
def test_runs_never_shrink_and_only_finished_runs_call_back(outcome, runs, failures, lost):
    policy = Policy(max_failures=3, repeat_times=3)
    counts = Counts(runs, failures, lost)
    step = after(policy, counts, outcome, started_at=START, now=START)
    assert step.counts.runs - runs == (1 if step.callback else 0)


def test_failures_of_a_run_start_anew_with_the_next():
    step = after(Policy(repeat_times=1), Counts(0, 2), OK, started_at=START, now=START)
    assert step.counts == Counts(runs=1, run_failures=0)


def test_no_repeat_once_a_run_started_after_the_limit():
    until = START + timedelta(seconds=3.5)
    policy = Policy(repeat_times=FOREVER, repeat_until=until, repeat_delay_ms=1000)
    story = play(policy, always(OK))
    assert story.executions == 5  # starts at 0, 1, 2, 3 and 4 s; the last one does not repeat


def test_retries_wait_the_back_off_and_repeats_their_delay():
    policy = Policy(max_failures=1, repeat_times=1, repeat_delay_ms=5000)
    later = START + timedelta(seconds=2)
    failed = after(policy, Counts(), BAD, started_at=START, now=later, back_off_ms=700)
    done = after(policy, Counts(), OK, started_at=START, now=later)
    assert failed.due_at == later + timedelta(milliseconds=700)
    assert done.due_at == START + timedelta(seconds=5)


def test_a_lost_attempt_is_not_a_failure():
    step = after(Policy(), Counts(0, 0, 1), LOST, started_at=START, now=START)
    assert (step.status, step.counts) == (Status.PENDING, Counts(0, 0, 2))


def test_lost_attempts_count_only_in_a_row():
    step = after(Policy(max_failures=5), Counts(0, 0, 2), BAD, started_at=START, now=START)
    assert step.counts.lost == 0


def test_a_released_job_is_as_it_was():
    counts = Counts(1, 1, 1)
    step = after(Policy(), counts, Outcome.RELEASED, started_at=START, now=START)
    assert (step.status, step.counts, step.callback) == (Status.PENDING, counts, None)


def test_abort_ends_without_callback_or_repeat():
    policy = Policy(max_failures=9, repeat_times=FOREVER)
    step = after(policy, Counts(), Outcome.ABORTED, started_at=START, now=START)
    assert (step.status, step.callback) == (Status.FAILED, None)
