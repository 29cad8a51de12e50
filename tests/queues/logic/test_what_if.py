"""The estimate of a backlog's end: no order of starts ends earlier, and a limit never helps."""

import heapq

from hypothesis import given
from hypothesis import strategies as st

from queues.logic.flow.admission import Place
from queues.logic.flow.limits import Limit, parsed
from queues.logic.flow.what_if import Pile, end_of

PILES = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from(["/m/s", "/m/t"]), st.integers(0, 8)),
    max_size=6,
)
LIMITS = st.lists(
    st.builds(
        lambda per, number: Limit(per, at_once=number),
        st.sampled_from(["key", "queue", "script"]),
        st.integers(1, 4),
    ),
    max_size=3,
)


def piles_of(rows, seconds=1.0):
    return [Pile(Place("1", key, script, ""), jobs, seconds) for key, script, jobs in rows]


def counted(limit, place):
    return (limit, {"key": place.key, "queue": "", "script": place.script}[limit.per])


def simulated(piles, workers, limits):
    """Start jobs as soon as everything allows it; return when the last one ends."""
    waiting = [pile.place for pile in piles for _ in range(pile.jobs)]
    running, now = [], 0.0
    while waiting or running:
        for place in list(waiting):
            places = [other for _, _, other in running]
            within = all(
                sum(counted(limit, other) == counted(limit, place) for other in places)
                < limit.at_once
                for limit in limits
            )
            if within and len(running) < workers:
                waiting.remove(place)
                heapq.heappush(running, (now + 1.0, len(waiting), place))
        now = heapq.heappop(running)[0]
        while running and running[0][0] <= now:
            heapq.heappop(running)
    return now


@given(PILES, st.integers(1, 5), LIMITS)
def test_no_order_of_starts_ends_earlier(rows, workers, limits):
    piles = piles_of(rows)
    assert end_of(piles, workers, limits).seconds <= simulated(piles, workers, limits) + 1e-9


@given(PILES, st.integers(1, 5), LIMITS, LIMITS)
def test_another_limit_never_helps(rows, workers, limits, more):
    piles = piles_of(rows)
    alone, together = (end_of(piles, workers, each) for each in (limits, [*limits, *more]))
    assert alone.seconds <= together.seconds


def test_the_longest_limit_is_named():
    piles = piles_of([("acme", "/m/s", 30), ("b", "/m/s", 2)], seconds=10.0)
    end = end_of(piles, 8, parsed([{"per": "key", "at_once": 3}]))
    assert (end.seconds, end.held_by) == (100.0, "3 at once per key (acme)")
    rate = parsed([{"per": "queue", "rate": "6/min", "burst": 2}])
    assert (end_of(piles, 8, rate).seconds, end_of(piles, 8, rate).held_by) == (
        310.0,
        "6/min per queue",
    )


def test_every_host_has_a_count_of_its_own():
    piles = piles_of([("", "/m/s", 12)])
    limit = parsed([{"per": "instance", "at_once": 2}])
    assert [end_of(piles, 9, limit, hosts=hosts).seconds for hosts in (1, 3)] == [6.0, 2.0]


def test_limits_of_a_script_count_its_jobs_only():
    piles = piles_of([("", "/m/s", 2), ("", "/m/t", 9)])
    end = end_of(piles, 20, of_scripts={"/m/s": parsed([{"per": "script", "at_once": 1}])})
    assert (end.seconds, end.held_by) == (2.0, "1 at once per script")


def test_nothing_waits():
    assert end_of([], 1).held_by == ""
