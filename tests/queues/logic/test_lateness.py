"""When a queue is late, and when somebody should look at it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from queues.logic.lateness import TARGET_AGE_SECONDS, Lateness, lateness, needs_a_look

AGES = st.floats(0, 10**9)
TARGETS = st.none() | st.integers(1, 10**8)
ORDER = list(Lateness)


@pytest.mark.parametrize(
    ("oldest", "target", "said"),
    [
        (None, 10, None),
        (None, None, None),
        (0, 10, "fine"),
        (10, 10, "fine"),
        (10.1, 10, "late"),
        (30, 10, "late"),
        (30.1, 10, "very late"),
        (30, None, "fine"),
        (31, None, "late"),
        (90, None, "late"),
        (91, None, "very late"),
        (3600, 86_400, "fine"),
    ],
)
def test_the_oldest_age_is_judged_by_the_target(oldest, target, said):
    assert lateness(oldest, target) == said


@given(AGES, AGES, TARGETS)
def test_an_older_job_is_never_less_late(age, other, target):
    younger, older = sorted((age, other))
    assert ORDER.index(lateness(younger, target)) <= ORDER.index(lateness(older, target))


@given(AGES, TARGETS)
def test_a_paused_queue_is_not_judged(age, target):
    assert lateness(age, target, is_paused=True) is None


@given(AGES)
def test_no_target_is_the_default(age):
    assert lateness(age, None) == lateness(age, TARGET_AGE_SECONDS)


@pytest.mark.parametrize(
    ("late", "target", "running", "needs"),
    [
        (None, 10, 0, False),
        (Lateness.FINE, 10, 0, False),
        (Lateness.LATE, 10, 0, True),
        (Lateness.LATE, 10, 2, True),
        (Lateness.LATE, None, 0, True),
        (Lateness.VERY_LATE, None, 2, False),
        (Lateness.VERY_LATE, 10, 2, True),
    ],
)
def test_busy_workers_excuse_a_queue_without_a_target(late, target, running, needs):
    assert needs_a_look(late, target, running) is needs
