"""Blocks of milliseconds: what holds for any mark, any clock and any request."""

from hypothesis import given
from hypothesis import strategies as st

from allocation.logic.id_blocks import (
    MOST_AHEAD_MS,
    MOST_NUMBERS,
    Block,
    Mark,
    batch,
    free_for_more,
    is_crowded,
    numbers_for,
    single_ids,
)

COUNTS = st.integers(1, 2000)
LEADS = st.integers(1, 2000)
AHEAD = st.integers(0, 5000)


@st.composite
def marks(draw):
    """As they are stored: the share of the clock is a part of the lead."""
    ahead = draw(AHEAD)
    return Mark(draw(st.integers(-5000, 5000)), ahead, draw(st.integers(0, ahead)))


@given(marks(), COUNTS, LEADS)
def test_a_block_lies_after_the_mark_and_not_beyond_the_lead(mark, count, lead):
    found = single_ids(count, lead)(mark, 0)
    if isinstance(found, Block):
        assert mark.ms < found.start_ms <= found.end_ms < found.start_ms + count
        assert found.end_ms <= found.mark.ahead_ms + lead
        assert found.mark.ahead_ms <= max(0, mark.ms)
    else:
        assert found > 0


@given(marks(), COUNTS, LEADS)
def test_whoever_waits_as_told_gets_a_block(mark, count, lead):
    request = single_ids(count, lead, least=count // 4)
    found = request(mark, 0)
    waited = 0 if isinstance(found, Block) else found
    assert isinstance(request(mark, waited), Block) or count // 4 > lead


@given(st.integers(3001, 10**9), st.integers(0, 1000), LEADS)
def test_a_mark_further_ahead_than_ids_can_be_is_where_a_clock_went_back(ms, ahead, lead):
    found = single_ids(lead, lead)(Mark(ms, ahead), 0)
    assert (found.start_ms, found.end_ms) == (ms + 1, ms + lead)
    assert (found.mark.ahead_ms, found.mark.set_back_ms) == (ms, ms - ahead)


@given(marks(), st.integers(1, 990_000), LEADS)
def test_a_batch_gets_all_it_needs_at_once(mark, count, lead):
    found = batch(count, lead)(mark, 0)
    assert found.end_ms - found.start_ms + 1 == count
    assert found.start_ms == max(0, mark.ms + 1)
    assert found.mark.ahead_ms >= min(found.end_ms, MOST_AHEAD_MS)


@given(st.lists(st.tuples(st.integers(0, 5000), st.integers(1, 400_000)), max_size=30), LEADS)
def test_however_many_batches_there_are_they_stay_below_the_bound(steps, lead):
    mark, now = Mark(), 10**12
    for passed, count in steps:
        now += passed
        found = batch(count, lead)(mark, now)
        if isinstance(found, Block):
            mark = found.mark
        assert mark.ms - now <= MOST_AHEAD_MS + lead
        assert mark.set_back_ms == 0


@given(marks(), st.integers(1, MOST_AHEAD_MS), LEADS)
def test_a_batch_that_waits_as_told_is_granted(mark, count, lead):
    request = batch(count, lead)
    found = request(mark, 0)
    waited = 0 if isinstance(found, Block) else found
    assert isinstance(request(mark, waited), Block)


@given(marks(), st.integers(-(10**7), 10**7), LEADS)
def test_the_share_of_the_clock_is_a_part_of_the_lead(mark, now, lead):
    seen = mark.at(now, lead)
    assert 0 <= seen.set_back_ms <= seen.ahead_ms <= max(0, mark.ms - now)


@given(st.integers(0, 10**6), st.floats(0, 10**6), st.sampled_from([10, 100, 1000]))
def test_a_process_gets_the_numbers_that_its_ids_need_and_no_more(made, elapsed_ms, size):
    count = numbers_for(made, elapsed_ms, size)
    assert 1 <= count <= MOST_NUMBERS[size]
    assert count == MOST_NUMBERS[size] or count * max(1.0, elapsed_ms) >= made
    assert count == 1 or (count - 1) * elapsed_ms < 1.25 * made
    assert count <= numbers_for(made + 1, elapsed_ms, size)


@given(st.integers(0, 1000), st.sampled_from([10, 100, 1000]))
def test_further_numbers_leave_half_to_others_and_are_kept_until_it_is_crowded(held, size):
    more = free_for_more(held, size)
    assert held + more <= max(held, size // 2)
    assert not (more and is_crowded(held + more, size))
