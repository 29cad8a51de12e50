"""The next moments of any cron rule are those that a look at every minute finds."""

from collections import defaultdict
from datetime import timedelta
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queues.logic.schedules import cron
from queues.logic.schedules.rule import JUST_BEFORE, Rule
from tests.queues.logic.schedules.walker import Walk, drawn_rules, offset, transitions, utc

FIVE = [
    *("Europe/Berlin", "America/St_Johns", "Australia/Lord_Howe"),  # an hour, 00:01, half an hour
    *("Africa/Casablanca", "Pacific/Apia"),  # around Ramadan, a day that is left out
]
ABOUT = timedelta(days=1)


def walks_of(name, first, last):
    zone = ZoneInfo(name)
    changes = transitions(zone, first, last)
    return [(at - ABOUT, Walk(zone, at - ABOUT, at + ABOUT)) for at in changes]


def compare(drawn, name, walk, begin):
    rule = Rule(cron.parse(drawn.text()), ZoneInfo(name))
    expected = walk.fires(drawn)
    end = walk.seen[-1][0]
    found = []
    for moment in rule.following(begin - JUST_BEFORE):
        if moment > end:
            break
        found.append(moment)
    assert found == expected, (drawn.text(), name)
    assert rule.count(begin, end + JUST_BEFORE) == len(expected), (drawn.text(), name)


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
    """Zones whose clocks do the same around a transition share the walk, not the comparison."""
    about = timedelta(days=3)
    seen = zones_by_change(utc(1970, 1, 2), utc(2038, 1, 1), about)
    assert sum(map(len, seen.values())) > 10_000
    for (at, *_), names in seen.items():
        _compare_all(names, at - about, Walk(ZoneInfo(names[0]), at - about, at + about))


def zones_by_change(first, last, about):
    """Return the zones by what their clocks do around each transition, one for each behaviour."""
    known, found = set(), defaultdict(list)
    for name in sorted(available_timezones()):
        zone = ZoneInfo(name)
        changes = tuple(
            (at, offset(at - timedelta(seconds=1), zone), offset(at, zone))
            for at in transitions(zone, first, last)
        )
        if changes in known:
            continue
        known.add(changes)
        for change in changes:
            near = [each for each in changes if abs(each[0] - change[0]) <= about]
            found[(change[0], *near)].append(name)
    return found


def _compare_all(names, begin, walk):
    @settings(max_examples=5)
    @given(drawn_rules)
    def fire(drawn):
        for name in names:
            compare(drawn, name, walk, begin)

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
