"""Rules and moments as people write them."""

from datetime import timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from queues.logic.schedules.errors import BadRule
from queues.logic.schedules.rule import read
from queues.logic.schedules.spoken import moment_from, rule_from, rule_written
from queues.logic.schedules.words import rule_said
from tests.queues.logic.schedules.walker import utc

NOW = utc(2026, 3, 27, 12)
BERLIN = ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize(
    "text, rule",
    [
        ("every 5 minutes", {"every": 300_000}),
        ("every minute", {"every": 60_000}),
        ("every 1h30m", {"every": 5_400_000}),
        ("Every 2 days", {"every": 172_800_000}),
        ("@daily", {"cron": "@daily"}),
        ("cron 0 9 * * *", {"cron": "0 9 * * *"}),
        ("0 9 * * mon-fri", {"cron": "0 9 * * mon-fri"}),
        ("every day at 9:00", {"calendar": {"times": ["9:00"]}}),
        (
            "mon, Friday at 9:00, 17:30",
            {"calendar": {"weekdays": ["mon", "fri"], "times": ["9:00", "17:30"]}},
        ),
        (
            "last day of the month at 18:00",
            {"calendar": {"days": ["last"], "times": ["18:00"]}},
        ),
        (
            "day 1, 15 at 08:00 and 09:00",
            {"calendar": {"days": [1, 15], "times": ["08:00", "09:00"]}},
        ),
        ("2030-01-31 12:00, 2030-02-01", {"moments": ["2030-01-31 12:00", "2030-02-01"]}),
    ],
)
def test_a_rule_is_read_and_written_back(text, rule):
    assert rule_from(text) == rule
    read(rule, "UTC", anchor=NOW)
    assert rule_from(rule_written(rule, rule_said(rule))) == rule


@pytest.mark.parametrize("text", ["", "soon", "every now and then", "every", "fooday at 9:00"])
def test_a_text_that_says_nothing_is_refused_with_examples(text):
    with pytest.raises(BadRule, match="write"):
        rule_from(text)


@pytest.mark.parametrize(
    "text, moment",
    [
        ("now", NOW),
        ("5 minutes", NOW + timedelta(minutes=5)),
        ("in 2h", NOW + timedelta(hours=2)),
        ("tomorrow 14:00", utc(2026, 3, 28, 13)),
        ("today 9:00", utc(2026, 3, 27, 8)),
        ("14:00", utc(2026, 3, 27, 13)),
        ("9:00", utc(2026, 3, 28, 8)),
        ("2030-01-31 12:00", utc(2030, 1, 31, 11)),
        ("2030-01-31T12:00Z", utc(2030, 1, 31, 12)),
    ],
)
def test_a_moment_is_read_in_the_zone(text, moment):
    assert moment_from(text, BERLIN, NOW) == moment


@given(st.text(max_size=50))
def test_any_text_is_a_rule_or_refused(text):
    for attempt in (lambda: rule_from(text), lambda: moment_from(text, BERLIN, NOW)):
        try:
            attempt()
        except BadRule as error:
            assert str(error)
