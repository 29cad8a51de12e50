"""Hints: what changed, at most one a second, at once after a quiet time."""

import pytest

from atributo_site.serving.broadcast import MOST_SUBJECTS, Hinting
from atributo_site.status.marks import Generation
from tests.factories.jobs import make_job, make_queue
from tests.serving.sse_client import Listening


@pytest.fixture
def hinting():
    """Return hinting whose first hint, which names nothing, is given."""
    made = Hinting(read=dict, numbers=Generation(), pause_seconds=1.0)
    assert made.hint({"job": 1}, [], now=0.0).subjects == ()
    return made


def test_nothing_new_is_no_hint(hinting):
    assert hinting.hint({"job": 1}, [], now=5.0) is None


def test_a_change_after_a_quiet_time_is_told_at_once(hinting):
    hint = hinting.hint({"job": 2}, ["queue:mail"], now=5.0)
    assert (hint.subjects, hint.generation) == (("job", "queue:mail"), hinting.numbers.name)


def test_changes_within_a_second_are_one_hint(hinting):
    hinting.hint({"job": 2}, [], now=5.0)
    assert hinting.hint({"job": 3}, [], now=5.4) is None
    assert hinting.hint({"job": 3}, ["instance:a"], now=5.8) is None
    assert hinting.hint({"job": 3}, [], now=6.0).subjects == ("instance:a", "job")


def test_each_hint_has_a_generation_of_its_own(hinting):
    names = [hinting.hint({"job": number}, [], now=number).generation for number in range(2, 5)]
    assert len(set(names)) == 3


def test_very_many_subjects_are_told_as_kinds(hinting):
    subjects = [f"job:{number}" for number in range(MOST_SUBJECTS + 1)]
    assert hinting.hint({"job": 1}, subjects, now=5.0).subjects == ("job",)


def test_after_a_rest_anything_may_have_changed(hinting):
    before = hinting.numbers.name
    hinting.rest()
    hint = hinting.hint({"job": 1}, [], now=9.0)
    assert (hint.subjects, hint.generation == before) == ((), False)


def hints(stream):
    return [frame["data"] for frame in stream.frames if frame.get("event") == "hint"]


def test_a_listener_that_wants_hints_hears_of_jobs_without_an_event(web, bearer, wait_until):
    queue = make_queue()
    with Listening(f"{web()}/events/stream", bearer("viewer"), hints="yes") as stream:
        wait_until(lambda: hints(stream)[-1:] and hints(stream)[-1]["generation"])
        make_job(queue, "progress")
        wait_until(lambda: any("job" in hint["subjects"] for hint in hints(stream)))
        assert stream.data() == []


def test_a_listener_without_that_wish_gets_events_alone(web, bearer, wait_until):
    url, headers = f"{web()}/events/stream", bearer("viewer")
    with Listening(url, headers) as plain, Listening(url, headers, hints="yes") as hinted:
        wait_until(lambda: len(hints(hinted)) == 2)  # the opening, and that marks are read now
        make_job(make_queue(), "progress")
        wait_until(lambda: any("job" in hint["subjects"] for hint in hints(hinted)))
        assert plain.said() == []
