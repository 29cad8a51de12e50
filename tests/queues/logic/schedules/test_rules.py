"""Rules of every kind, their ends and errors, and what people are told about them."""

from datetime import timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from queues.logic.schedules.errors import BadRule
from queues.logic.schedules.forecast import clock_note, difference, expected_runs
from queues.logic.schedules.policies import Decision, Overlap, jitter, on_overlap
from queues.logic.schedules.rule import JUST_BEFORE, check_fires, read
from queues.logic.schedules.words import rule_said
from queues.logic.schedules.zones import UnknownZone, zone_named
from tests.queues.logic.schedules.walker import utc

NOW = utc(2026, 3, 27, 12)  # a Friday before clocks go forward in Europe


def rule(given, zone="Europe/Berlin", **more):
    return read(given, zone, anchor=NOW, **more)


def test_an_interval_counts_from_its_anchor_whatever_clocks_do():
    every = rule({"every": 90 * 60_000, "anchor": "2026-03-27T00:10:00+00:00"})
    assert every.upcoming(NOW, 2) == [utc(2026, 3, 27, 12, 10), utc(2026, 3, 27, 13, 40)]
    assert rule({"every": 60_000}).next_after(NOW) == NOW + timedelta(minutes=1)
    assert rule({"every": 60_000}).next_after(NOW - timedelta(days=1)) == NOW


@given(st.integers(1000, 10**10), st.integers(0, 10**9))
def test_an_interval_is_never_longer_than_itself(every_ms, seconds):
    after = NOW + timedelta(seconds=seconds)
    moment = rule({"every": every_ms}).next_after(after)
    assert timedelta() < moment - after <= timedelta(milliseconds=every_ms)


def test_a_calendar_takes_weekdays_or_days_of_the_month():
    given = {"weekdays": ["mon"], "days": ["last"], "times": ["09:00", "17:30"]}
    local = [each.local for each in expected_runs(rule({"calendar": given}), NOW, 4)]
    assert [f"{each:%m-%d %H:%M}" for each in local] == [
        *("03-30 09:00", "03-30 17:30"),
        *("03-31 09:00", "03-31 17:30"),
    ]


def test_moments_without_an_offset_are_of_the_zone():
    listed = rule({"moments": ["2026-04-01T09:00", "2026-03-29T02:30", "2026-04-02T09:00Z"]})
    assert listed.upcoming(NOW, 5) == [
        utc(2026, 3, 29, 1),
        utc(2026, 4, 1, 7),
        utc(2026, 4, 2, 9),
    ]


def test_start_and_end_belong_to_the_rule():
    daily = rule({"cron": "@daily"}, "UTC", starts_at=utc(2026, 4, 1), ends_at=utc(2026, 4, 3))
    assert daily.upcoming(NOW, 9) == [utc(2026, 4, 1), utc(2026, 4, 2), utc(2026, 4, 3)]


@pytest.mark.parametrize(
    "given, said",
    [
        ({"cron": "0 0 30 2 *"}, "30 February"),
        ({"moments": ["2020-01-01T00:00"]}, "are over"),
        ({"every": 10}, "1 second"),
        ({"every": "soon"}, "a span such as 90m"),
        ({"every": 1000, "cron": "@daily"}, "exactly one of"),
        ({"cron": "@daily", "anchor": "2026-01-01"}, "exactly one of"),
        ({"calendar": {"times": []}}, "needs times"),
        ({"calendar": {"times": ["25:00"]}}, "09:30"),
        ({"calendar": {"times": ["9"]}}, "09:30"),
        ({"calendar": {"days": [32], "times": ["09:00"]}}, "1 to 31"),
        ({"calendar": {"weekdays": ["noday"], "times": ["09:00"]}}, "mon to sun"),
        ({"calendar": []}, "an object"),
        ({"moments": []}, "1 to 1000"),
        ({"moments": ["tomorrow"]}, "2030-01-31T12:00"),
        ({}, "none of them"),
        ("@daily", "an object"),
    ],
)
def test_a_wrong_rule_is_refused_with_a_sentence(given, said):
    with pytest.raises(BadRule) as error:
        check_fires(rule(given), NOW)
    assert said in str(error.value)


def test_a_rule_that_ends_before_it_fires_is_refused():
    with pytest.raises(BadRule, match="before its end"):
        check_fires(rule({"cron": "@yearly"}, ends_at=utc(2026, 4, 1)), NOW)
    with pytest.raises(BadRule, match="before the start"):
        rule({"cron": "@daily"}, starts_at=utc(2027, 1, 1), ends_at=utc(2026, 1, 1))


@pytest.mark.parametrize("name", ["Mars/Base", "", "../etc/passwd", "Europe", "x" * 10**6])
def test_an_unknown_zone_is_refused(name):
    with pytest.raises(UnknownZone, match="IANA"):
        zone_named(name)


def test_the_nights_when_clocks_change_are_told():
    daily = rule({"cron": "30 2 * * *"})
    spring, autumn = utc(2026, 3, 29, 1), utc(2026, 10, 25, 0, 30)
    assert clock_note(daily, spring) == "02:30 does not exist on 29 March: runs at 03:00"
    assert "happens twice on 25 October: runs the first" in clock_note(daily, autumn)
    assert clock_note(daily, utc(2026, 5, 1, 0, 30)) == ""
    hourly = rule({"cron": "@hourly"})
    assert "this is the second one" in clock_note(hourly, utc(2026, 10, 25, 1))
    assert clock_note(hourly, utc(2026, 3, 29, 1)) == "02:00 does not exist on 29 March: left out"


@given(
    st.one_of(
        st.integers(7, 90).map(lambda minutes: {"every": minutes * 60_000}),
        st.just({"moments": ["2026-03-28T00:00", "2026-03-29T02:30", "2026-03-30T00:00"]}),
        st.just({"cron": "*/20 0-3 * * *"}),
    ),
    st.integers(-2000, 6000),
    st.integers(0, 6000),
    st.integers(0, 3000),
)
def test_moments_are_counted_as_a_walk_counts_them(given, first, minutes, start):
    starts_at, ends_at = NOW + timedelta(minutes=start), NOW + timedelta(minutes=5000)
    counted = rule(given, starts_at=starts_at, ends_at=ends_at)
    begin = NOW + timedelta(minutes=first)
    end = begin + timedelta(minutes=minutes)
    walked = [at for at in counted.following(begin - JUST_BEFORE) if at < end]
    assert counted.count(begin, end) == len(walked)
    assert counted.newest(begin, end, 5) == walked[-5:]


def test_a_change_is_told_in_runs_and_minutes():
    old, new = rule({"cron": "0 15 * * mon-fri"}), rule({"cron": "20 14 * * *"})
    assert (
        difference(old, new, NOW)
        == "2 runs more in the next 7 days, the next one 40 minutes earlier"
    )
    assert "as many runs" in difference(old, old, NOW)
    often = (rule({"every": 1000}), rule({"every": 2000}))
    assert difference(*often, NOW).startswith("302400 runs fewer in the next 7 days")
    assert "no further run" in difference(old, rule({"moments": ["2020-01-01T00:00"]}), NOW)


@pytest.mark.parametrize(
    "given, said",
    [
        ({"cron": "@daily"}, "cron @daily"),
        ({"every": 5_400_000}, "every 1h30m"),
        (
            {"calendar": {"weekdays": ["mon"], "days": ["last"], "times": ["09:00"]}},
            "Monday, last day at 09:00",
        ),
        ({"moments": ["2030-01-01"]}, "at 1 moment"),
    ],
)
def test_a_rule_in_words(given, said):
    assert rule_said(given) == said


@given(st.sampled_from(Overlap), st.integers(0, 5), st.integers(0, 5))
def test_runs_never_meet_unless_the_policy_says_so(policy, unfinished, waiting):
    decision = on_overlap(policy, unfinished, waiting)
    if decision is Decision.PUSH and policy not in (Overlap.BESIDE, Overlap.CANCEL):
        assert not unfinished and not waiting
    if policy is Overlap.QUEUE_ONE and waiting:
        assert decision is Decision.SKIP


@given(st.integers(1, 10**6), st.integers(0, 10**7))
def test_jitter_is_the_same_for_the_same_run_and_never_longer_than_asked(pk, jitter_ms):
    chosen = jitter(pk, NOW, jitter_ms)
    assert chosen == jitter(pk, NOW.astimezone(ZoneInfo("Asia/Tokyo")), jitter_ms)
    assert timedelta() <= chosen <= timedelta(milliseconds=jitter_ms)
