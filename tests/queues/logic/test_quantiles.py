"""Quantiles of counted buckets."""

from hypothesis import given
from hypothesis import strategies as st

from queues.queries.history import quantile

BOUNDS = (10, 100, 1_000)
COUNTS = st.lists(st.integers(0, 10**6), min_size=4, max_size=4)
SHARE = st.floats(0.001, 1)


@given(COUNTS, SHARE, SHARE)
def test_a_larger_share_is_never_faster(counts, one, other):
    small, large = (quantile(BOUNDS, counts, share) for share in sorted((one, other)))
    assert (small or 0) <= (large or 0)


@given(COUNTS.filter(any), SHARE)
def test_it_lies_within_the_buckets(counts, share):
    assert 0 < quantile(BOUNDS, counts, share) <= BOUNDS[-1]


def test_inside_a_bucket_it_is_drawn_evenly():
    assert quantile(BOUNDS, [0, 10, 0, 0], 0.5) == 55
    assert quantile(BOUNDS, [0, 0, 0, 3], 0.5) == 1_000
    assert quantile(BOUNDS, [0, 0, 0, 0], 0.5) is None
