"""Cron texts: what they mean, and what is said about wrong ones."""

from datetime import timedelta
from zoneinfo import ZoneInfo

import pytest

from queues.logic.schedules import cron
from queues.logic.schedules.errors import BadRule
from tests.queues.logic.schedules.walker import utc

BEGIN = utc(2026, 1, 1)  # a Thursday


def first(text, zone="UTC", after=BEGIN - timedelta(microseconds=1)):
    return cron.parse(text).next_after(after, ZoneInfo(zone))


@pytest.mark.parametrize(
    "text, moment",
    [
        ("@daily", utc(2026, 1, 1)),
        ("@hourly", utc(2026, 1, 1)),
        ("@weekly", utc(2026, 1, 4)),
        ("@yearly", utc(2026, 1, 1)),
        ("30 9 * * *", utc(2026, 1, 1, 9, 30)),
        ("*/20 3-5/2 * * *", utc(2026, 1, 1, 3)),
        ("0 0 L * *", utc(2026, 1, 31)),
        ("0 0 L feb *", utc(2026, 2, 28)),
        ("0 0 * * fri", utc(2026, 1, 2)),
        ("0 0 * * 7", utc(2026, 1, 4)),
        ("0 0 * * SAT-SUN", utc(2026, 1, 3)),
        ("0 0 * * 5#2", utc(2026, 1, 9)),
        ("0 0 * * friL", utc(2026, 1, 30)),
        ("0 0 13 * fri", utc(2026, 1, 2)),  # either of the two
        ("0 0 */2 * fri", utc(2026, 1, 9)),  # both
        ("0 0 29 2 *", utc(2028, 2, 29)),
        ("10/20 * * * *", utc(2026, 1, 1, 0, 10)),
    ],
)
def test_the_first_moment_of_a_text(text, moment):
    assert first(text) == moment


@pytest.mark.parametrize(
    "text, said",
    [
        ("61 * * * *", "the minute field is '61', and 61 is out of range"),
        ("* 24 * * *", "the hour field"),
        ("* * 0 * *", "the day-of-month field"),
        ("* * * foo *", "numbers from 1 to 12 or jan to dec"),
        ("* * * * 8", "the day-of-week field"),
        ("* * * * 5#6", "from 1 to 5"),
        ("* * * * L", "a part is empty"),
        ("5-1 * * * *", "goes down"),
        ("*/0 * * * *", "the step '0'"),
        ("1,,2 * * * *", "a part is empty"),
        ("* * * *", "has 5 fields"),
        ("", "has 0"),
        ("@reboot", "@hourly"),
        ("٣ * * * *", "is not a number"),
        ("*" * 300, "at most 200 characters"),
    ],
)
def test_a_wrong_text_says_which_field_and_what_it_may_contain(text, said):
    with pytest.raises(BadRule, match=r".") as error:
        cron.parse(text)
    assert said in str(error.value)


def test_a_day_that_no_year_has_never_comes():
    assert first("0 0 30 2 *") is None
    assert first("0 0 31 4,6,9,11 *") is None


def test_a_fixed_time_runs_once_in_both_nights_when_clocks_change():
    spring = first("30 2 * * *", "Europe/Berlin", utc(2026, 3, 28, 12))
    assert spring == utc(2026, 3, 29, 1)  # 03:00, when the gap ends
    autumn = first("30 2 * * *", "Europe/Berlin", utc(2026, 10, 24, 12))
    assert autumn == utc(2026, 10, 25, 0, 30)  # the first of two
    after = first("30 2 * * *", "Europe/Berlin", autumn)
    assert after == utc(2026, 10, 26, 1, 30)


def test_a_rule_of_every_hour_goes_by_elapsed_time():
    at = utc(2026, 10, 24, 23, 30)
    moments = []
    for _ in range(4):
        at = first("30 * * * *", "Europe/Berlin", at)
        moments.append(at)
    assert [b - a for a, b in zip(moments, moments[1:], strict=False)] == [timedelta(hours=1)] * 3
