"""Loops run steps for ever, here with a clock that is passed in."""

from datetime import UTC, datetime

import pytest

from atributo_site.core.loops import LONGEST_BACKOFF_SECONDS, Loop, Step

NOW = datetime(2026, 3, 1, tzinfo=UTC)

pytestmark = pytest.mark.django_db


class Seconds:
    value = 0.0

    def __call__(self) -> float:
        return self.value


def loop_of(*steps: Step) -> tuple[Loop, Seconds]:
    seconds = Seconds()
    return Loop(steps, now=lambda: NOW, monotonic=seconds), seconds


def test_a_step_gets_the_time_and_says_when_it_wants_to_run_again():
    seen = []
    loop, _ = loop_of(Step("beat", lambda now: seen.append(now) or 5.0))
    assert loop.run_due() == 5.0
    assert seen == [NOW]


def test_a_step_runs_only_when_its_time_has_come():
    runs = []
    loop, seconds = loop_of(Step("beat", lambda now: runs.append(now) or 5.0))
    loop.run_due()
    seconds.value = 4.9
    loop.run_due()
    assert len(runs) == 1
    seconds.value = 5.0
    loop.run_due()
    assert len(runs) == 2


def test_a_failing_step_waits_longer_each_time_and_recovers():
    fails = [True] * 12 + [False]
    step = Step("fragile", lambda now: 1 / 0 if fails.pop(0) else 0.5)
    loop, seconds = loop_of(step)
    waits = []
    for _ in range(13):
        waits.append(loop.run_due())
        seconds.value += waits[-1]
    assert waits[:5] == [1, 2, 4, 8, 16]
    assert max(waits) == LONGEST_BACKOFF_SECONDS
    assert waits[-1] == 0.5
    assert step.failures == 0


def test_one_failing_step_does_not_stop_the_others():
    runs = []
    loop, _ = loop_of(
        Step("fragile", lambda now: 1 / 0), Step("steady", lambda now: runs.append(now) or 9)
    )
    assert loop.run_due() == 1.0
    assert runs == [NOW]


def test_a_stopped_loop_runs_no_further_step():
    runs = []
    loop, _ = loop_of(
        Step("first", lambda now: loop.stop() or 0.0),
        Step("second", lambda now: runs.append(1) or 0),
    )
    loop.run()
    assert runs == []
