"""When a policy acts on a job whose instance is away, and what the job's page says."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from queues.logic.absence import WaitingJob, WhenAway, acts_at, waits_for
from queues.logic.options import PRIORITIES
from queues.logic.ranks import RANKS, STICKY_RANKS, rank_of, shared_rank

FIRST = datetime(2020, 1, 1, tzinfo=UTC)
MOMENTS = st.integers(0, 2**31).map(lambda seconds: FIRST + timedelta(seconds=seconds))


@given(st.sampled_from(WhenAway), st.integers(0, 10**7), MOMENTS, MOMENTS)
def test_no_policy_acts_before_job_and_absence_are_as_old_as_the_grace(policy, grace, away, due):
    moment = acts_at(policy, grace, away, due)
    waits = policy is WhenAway.WAIT
    assert (moment is None) == waits
    assert waits or min(moment - away, moment - due) >= timedelta(seconds=grace)


@given(st.sampled_from(WhenAway), MOMENTS, MOMENTS, st.none() | MOMENTS, st.booleans())
def test_there_is_always_one_sentence(policy, now, due, away, paused):
    job = WaitingJob("k", due, "a", away, None, paused)
    said = waits_for(job, policy, 30, now)
    assert said.endswith(".") and "None" not in said


@given(st.sampled_from(PRIORITIES), st.booleans())
def test_a_rank_tells_priority_and_stickiness(priority, sticky):
    rank = rank_of(priority, sticky)
    assert rank in (STICKY_RANKS if sticky else RANKS)
    assert shared_rank(rank) == -priority


def test_the_two_kinds_of_ranks_never_meet():
    assert not set(RANKS) & set(STICKY_RANKS)
