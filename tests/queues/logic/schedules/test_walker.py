"""The next moments of any cron rule are those that a look at every minute finds."""

from datetime import timedelta
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queues.logic.schedules import cron
from queues.logic.schedules.rule import Rule
from tests.queues.logic.schedules.walker import Walk, drawn_rules, transitions, utc

FIVE = [
    *("Europe/Berlin", "America/St_Johns", "Australia/Lord_Howe"),  # an hour, 00:01, half an hour
    *("Africa/Casablanca", "Pacific/Apia"),  # around Ramadan, a day that is left out
]
ABOUT = timedelta(days=1)
WALKS = {}


def walks_of(name, first, last, about=ABOUT):
    if name not in WALKS:
        zone = ZoneInfo(name)
        WALKS[name] = [
            (at - about, Walk(zone, at - about, at + about))
            for at in transitions(zone, first, last)
        ]
    return WALKS[name]


def compare(drawn, name, walk, begin):
    rule = Rule(cron.parse(drawn.text()), ZoneInfo(name))
    expected = walk.fires(drawn)
    end = walk.seen[-1][0]
    found = []
    for moment in rule.following(begin - timedelta(microseconds=1)):
        if moment > end:
            break
        found.append(moment)
    assert found == expected, (drawn.text(), name)


@pytest.mark.parametrize("name", FIVE)
def test_the_rules_fire_as_a_walk_over_every_minute_says(name):
    years = (2011, 2012) if name == "Pacific/Apia" else (2026, 2027)
    walks = walks_of(name, *(utc(year, 1, 1) for year in years))
    assert walks

    @given(drawn_rules, st.sampled_from(walks))
    def fire(drawn, walk):
        compare(drawn, name, walk[1], walk[0])

    fire()


@pytest.mark.soak
def test_the_rules_fire_as_a_walk_says_around_every_transition_of_every_zone():
    for name in sorted(available_timezones()):
        WALKS.clear()
        walks = walks_of(name, utc(1970, 1, 2), utc(2038, 1, 1), timedelta(days=3))
        if walks:
            _compare_all(name, walks)


def _compare_all(name, walks):
    @settings(max_examples=max(20, len(walks)))
    @given(drawn_rules, st.sampled_from(walks))
    def fire(drawn, walk):
        compare(drawn, name, walk[1], walk[0])

    fire()


@pytest.mark.soak
@pytest.mark.parametrize("name", sorted(available_timezones())[::25])
def test_the_rules_fire_as_a_walk_over_a_year_says(name):
    begin = utc(2026, 1, 1)
    walk = Walk(ZoneInfo(name), begin, utc(2027, 1, 1))

    @settings(max_examples=10)
    @given(drawn_rules)
    def fire(drawn):
        compare(drawn, name, walk, begin)

    fire()
