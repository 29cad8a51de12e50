"""Any graph of jobs runs as a model says: in order, and failing with what is waited for."""

import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from queues.jobs.handles import get_batch
from queues.links.graphs import circle
from queues.models import QueuedJob

EXAMPLES = 6
NAMES = "abcdefgh"


@st.composite
def graphs(draw):
    """Jobs in the order of push, each with labels to wait for, and whether it fails."""
    order = draw(st.permutations(NAMES[: draw(st.integers(1, len(NAMES)))]))
    jobs = []
    for number, name in enumerate(sorted(order)):
        possible = order[: order.index(name)]
        after = draw(st.lists(st.sampled_from(possible), unique=True)) if possible else []
        jobs.append((name, tuple(after), draw(st.booleans()), draw(st.integers(0, 3)) == 0, number))
    return jobs


def expected(jobs):
    """Say how each job ends: it runs if those before it are complete, or it does not care."""
    ends = {}
    waiting = {name: (after, anyway, fails) for name, after, anyway, fails, _ in jobs}
    while waiting:
        for name, (after, anyway, fails) in list(waiting.items()):
            if not set(after) <= ends.keys():
                continue
            starts = anyway or all(ends[each] == "complete" for each in after)
            ends[name] = ("failed" if fails else "complete") if starts else "not started"
            del waiting[name]
    return ends


def check(jobs, queue, act, crew):
    with queue.batch() as block:
        ids = {
            name: block.push(act, label=name, after=after, even_if_failed=anyway and bool(after))
            for name, after, anyway, _, _ in jobs
        }
    names = {job_id: name for name, job_id in ids.items()}
    failing = [ids[name] for name, _, _, fails, _ in jobs if fails]
    order = [names[job_id] for job_id in crew.drain(failing=failing, count=2)]
    rows = QueuedJob.objects.in_bulk([int(job_id) for job_id in ids.values()])
    ends = {
        name: rows[int(job_id)].status if rows[int(job_id)].attempt else "not started"
        for name, job_id in ids.items()
    }
    assert ends == expected(jobs)
    for name, after, *_ in jobs:
        started = [each for each in after if each in order]
        assert name not in order or all(order.index(e) < order.index(name) for e in started)
    all_well = set(ends.values()) <= {"complete"}
    assert get_batch(block.id).state == ("complete" if all_well else "failed")


def test_random_graphs_run_as_the_model_says(queue, act, crew):
    quiet = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]

    @settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=quiet, database=None)
    @given(graphs())
    def run(jobs):
        check(jobs, queue, act, crew)

    run()


@pytest.mark.soak
def test_many_random_graphs_run_as_the_model_says(queue, act, crew):
    quiet = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]

    @settings(max_examples=300, deadline=None, suppress_health_check=quiet, database=None)
    @given(graphs())
    def run(jobs):
        check(jobs, queue, act, crew)

    run()


@pytest.mark.soak
def test_a_hundred_thousand_jobs_call_back_once(queue, act, called, crew, callbacks):
    count = int(os.environ.get("SOAK_JOBS", "100000"))
    with queue.batch(done=called) as block:
        block.push_many(act, list(range(count)))
    assert len(crew.drain(count=1000)) == count + 1  # and the callback
    assert get_batch(block.id).state == "complete"
    assert len(callbacks(block)) == 1


links = st.dictionaries(st.integers(0, 6), st.lists(st.integers(0, 6), max_size=4), max_size=7)


@given(links)
def test_a_circle_is_found_exactly_if_some_wait_for_themselves(after):
    ring = circle(after)
    assert bool(ring) == any(reaches(after, start) for start in after)
    steps = list(zip(ring, ring[1:], strict=False))
    assert all(end in after[begin] for begin, end in steps)
    assert ring == [] or ring[0] == ring[-1]


def reaches(after, start):
    """Return whether one comes back to where it started."""
    seen, border = set(), set(after[start])
    while border:
        seen |= border
        border = {each for one in border for each in after.get(one, ())} - seen
    return start in seen


def test_a_long_line_is_no_deep_recursion():
    assert circle({n: [n + 1] for n in range(100_000)}) == []
