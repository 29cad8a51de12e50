"""Job ids as digits: the examples, and what holds for any moment and any number."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allocation.logic.job_ids import (
    CLUSTER_SIZES,
    END_MS,
    FIRST_MS,
    format_id,
    format_range,
    next_ms,
    parse,
    refusal,
    second_digits,
    sort_key,
    tails,
    width,
)

MOMENT_MS = 1740486674723  # 2025-02-25 12:31:14.723
MS = st.integers(FIRST_MS, END_MS - 10_001)
SIZES = st.sampled_from(CLUSTER_SIZES)
NUMBERS = SIZES.flatmap(lambda size: st.tuples(st.integers(0, size - 1), st.just(size)))


@pytest.mark.parametrize(
    ("worker_id", "size", "job_id"),
    [
        (3, 10, "2502251231147233"),
        (42, 100, "25022512311472342"),
        (123, 1000, "250225123114723123"),
    ],
)
def test_c01_the_three_examples(worker_id, size, job_id):
    assert format_id(MOMENT_MS, worker_id, size) == job_id


def test_c02_a_conflict_is_the_last_id_plus_the_cluster_size():
    first = format_id(MOMENT_MS, 5, 100)
    second = format_id(next_ms(MOMENT_MS, MOMENT_MS), 5, 100)
    assert (first, second) == ("25022512311472305", "25022512311472405")
    assert int(second) == int(first) + 100


def test_the_conflict_is_carried_on_the_calendar():
    last = int(datetime(2025, 2, 25, 12, 31, 59, tzinfo=UTC).timestamp()) * 1000 + 999
    assert format_id(next_ms(last, last), 5, 100) == "25022512320000005"


@pytest.mark.parametrize("size", [0, 1, 50, 10_000, "100", 100.0, True])
def test_c03_an_unknown_cluster_size_is_refused(size):
    assert refusal(0, size) == "cluster_size must be one of 10, 100, or 1000"


@pytest.mark.parametrize("worker_id", [-1, 100, "07", True, 7.0, None])
def test_c03_a_worker_number_outside_the_range_is_refused(worker_id):
    said = "worker_id must be between 0 and 99 for cluster_size=100"
    assert refusal(worker_id, 100) == said


@given(MS, NUMBERS)
def test_an_id_tells_what_it_was_made_of(ms, number):
    worker_id, size = number
    parsed = parse(format_id(ms, worker_id, size))
    assert parsed.time == datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=ms)
    assert (parsed.worker_id, parsed.cluster_size, parsed.exact) == (worker_id, size, True)


@given(MS, NUMBERS)
def test_an_id_has_its_width_and_survives_as_an_integer(ms, number):
    worker_id, size = number
    made = format_id(ms, worker_id, size)
    assert len(made) == 15 + width(size) and str(int(made)) == made and int(made) < 2**63


@given(MS, st.integers(1, 5000), NUMBERS)
def test_later_ids_of_one_number_are_larger(ms, later, number):
    assert int(format_id(ms, *number)) < int(format_id(ms + later, *number))


@given(MS, MS, st.integers(0, 9))
def test_c11_ids_of_a_larger_cluster_are_larger_than_every_older_one(old_ms, new_ms, worker_id):
    for old, new in [(10, 100), (100, 1000), (10, 1000)]:
        assert int(format_id(old_ms, worker_id, old)) < int(format_id(new_ms, worker_id, new))


@given(st.lists(st.tuples(MS, NUMBERS), max_size=20))
def test_c11_the_sort_key_is_chronological_over_all_widths(made):
    ids = sorted((format_id(ms, *number) for ms, number in made), key=sort_key)
    times = [parse(job_id).time for job_id in ids]
    assert times == sorted(times)


@given(MS, st.integers(0, 3000), NUMBERS)
def test_a_range_is_the_same_as_one_after_the_other(ms, count, number):
    one_by_one = [format_id(ms + n, *number) for n in range(count)]
    assert format_range(ms, count, tails(*number)) == one_by_one


@given(MS, MS)
def test_the_next_millisecond_is_never_used_nor_in_the_past_of_the_clock(now_ms, last_ms):
    assert next_ms(now_ms, last_ms) >= now_ms
    assert next_ms(now_ms, last_ms) > last_ms


@given(st.from_regex(r"[0-9]{16,18}", fullmatch=True))
def test_any_digits_are_read_as_some_moment(text):
    parsed = parse(text)
    rebuilt = parsed.time.strftime("%y%m%d%H%M%S")
    assert parsed.exact == (rebuilt == text[:12])


@given(st.text(max_size=30))
def test_what_is_no_id_is_refused(text):
    is_id = len(text) in (16, 17, 18) and text.isascii() and text.isdigit()
    try:
        assert bool(parse(text)) == is_id
    except ValueError:
        assert not is_id


@pytest.mark.parametrize("ms", [FIRST_MS - 1, END_MS, 0])
def test_c14_a_year_that_two_digits_cannot_hold_is_refused(ms):
    with pytest.raises(ValueError, match="2010 to 2099"):
        second_digits(ms // 1000)
