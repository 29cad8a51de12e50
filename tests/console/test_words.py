"""Moments, durations and states: what must hold for any input."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atributo_site.console.base.forms import BadMoment, moment
from atributo_site.console.base.navigation import ITEMS
from atributo_site.web.format import TONES, ago, duration, tone

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


@given(st.text(max_size=50))
def test_any_text_is_a_moment_or_is_refused(text):
    try:
        found = moment(text, NOW)
    except BadMoment:
        return
    assert found is None or found.tzinfo is not None


@given(st.integers(0, 10**5), st.sampled_from("smhdw"))
def test_an_age_lies_in_the_past(count, unit):
    assert moment(f"{count}{unit}", NOW) <= NOW


def test_a_time_without_a_zone_is_utc():
    assert moment("2026-01-01 10:00", NOW) == NOW - timedelta(hours=2)


@given(st.floats(0, 10**9))
def test_a_duration_is_short(seconds):
    assert 0 < len(duration(seconds)) <= 14


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (None, "–"),
        (0.35, "350ms"),
        (0.9996, "1s"),
        (4.21, "4.2s"),
        (9.97, "10s"),
        (63, "1m3s"),
        (7200, "2h"),
        (273_600, "3d4h"),
        (-5, "-5s"),
    ],
)
def test_durations_have_one_format(seconds, said):
    assert duration(seconds) == said


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0, "just now"), (-1, "just now"), (45, "45s ago"), (3700, "1h ago"), (-90, "in 1m")],
)
def test_ages_are_said_briefly(seconds, said):
    assert ago(seconds) == said


@given(st.text(max_size=20))
def test_every_word_has_a_tone(word):
    assert tone(word) in TONES


def test_no_two_screens_share_a_key():
    assert len({item.key for item in ITEMS}) == len(ITEMS)
