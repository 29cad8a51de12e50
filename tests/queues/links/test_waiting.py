"""A job that waits for others starts when all of them are complete, and fails with them."""

from datetime import timedelta

import pytest

from atributo_site.core.models import Event
from atributo_site.core.models.clock import database_now
from queues.errors import BadPush
from queues.jobs import actions, bulk
from queues.models import Dependency, QueuedJob
from queues.queries.presenters import job_dict
from queues.queries.search import search


@pytest.fixture
def pair(queue, act):
    first = queue.push(act, {"n": 1})
    return first, queue.push(act, {"n": 2}, after=[first])


def row(job_id):
    return QueuedJob.objects.select_related("queue").get(pk=job_id)


def test_it_starts_after_the_job_that_it_waits_for(pair, crew, queue):
    first, second = pair
    assert queue.get(second).state == "blocked"
    assert crew.drain() == [first, second]
    assert queue.get(second).status == "complete"


def test_it_waits_for_all_of_them(queue, act, crew):
    first, second = queue.push_many(act, [1, 2])
    last = queue.push(act, after=[first, second, first])
    slot, results = crew.begin()
    crew.end(slot, results)
    assert queue.get(last).state == "blocked"
    assert crew.drain() == [second, last]


def test_complete_jobs_are_not_waited_for(queue, act, crew):
    first = queue.push(act)
    crew.drain()
    second = queue.push(act, after=[first])
    assert queue.get(second).state == "waiting"


def test_it_fails_with_the_job_that_it_waits_for(queue, act, crew, called):
    first = queue.push(act)
    second = queue.push(act, after=[first], failure=called)
    third = queue.push(act, after=[second])
    assert crew.drain(failing=[first]) == [first]
    assert row(second).error == f"Job {first}, which it waited for, did not complete."
    assert row(third).error == f"Job {second}, which it waited for, did not complete."
    assert not QueuedJob.objects.filter(parent=second).exists()
    assert Event.objects.filter(kind="job.not_started").count() == 2


def test_it_may_start_even_if_others_fail(queue, act, crew):
    first = queue.push(act)
    second = queue.push(act, after=[first], even_if_failed=True)
    assert crew.drain(failing=[first]) == [first, second]
    assert queue.get(second).status == "complete"


def test_a_retry_is_no_end(queue, act, crew):
    first = queue.push(act, max_failures=1, back_off=0)
    second = queue.push(act, after=[first])
    slot, results = crew.begin()
    crew.end(slot, results, failing=[first])
    assert queue.get(second).state == "blocked"
    assert crew.drain() == [first, second]


def test_all_runs_of_a_job_that_repeats_are_waited_for(queue, act, crew, wait_until):
    first = queue.push(act, repeat_times=2)
    second = queue.push(act, after=[first])
    order = []  # on SQLite the next run may be due within the next millisecond
    wait_until(lambda: order.extend(crew.drain()) or len(order) >= 4)
    assert order == [first, first, first, second]


def test_what_fails_before_the_push_ends_the_job_at_once(queue, act, crew):
    first = queue.push(act)
    crew.drain(failing=[first])
    second = queue.push(act, after=[first])
    assert queue.get(second).status == "failed"


@pytest.mark.parametrize("end", ["abort", "delete", "expire", "bulk delete"])
def test_jobs_that_never_complete_fail_those_after_them(pair, queue, sweep, end):
    first, second = pair
    if end == "expire":
        past = database_now() - timedelta(seconds=1)
        QueuedJob.objects.filter(pk=first).update(expires_at=past)
        sweep()
    elif end == "bulk delete":
        bulk.do("delete", [int(first)])
    else:
        {"abort": actions.abort, "delete": actions.delete}[end](int(first))
    assert queue.get(second).status == "failed"
    assert "did not complete" in row(second).error


def test_a_delay_counts_from_the_moment_that_the_push_named(queue, act, crew):
    first = queue.push(act)
    later = database_now() + timedelta(hours=1)
    second = queue.push(act, after=[first], delay_until=later)
    assert job_dict(row(second), database_now())["delay_until"] == later
    assert crew.drain() == [first]
    assert (queue.get(second).state, row(second).due_at) == ("delayed", later)


def test_its_age_counts_from_its_release(pair, crew):
    slot, results = crew.begin()
    QueuedJob.objects.update(created_at=database_now() - timedelta(hours=1))
    crew.end(slot, results)
    assert database_now() - row(pair[1]).due_at < timedelta(minutes=10)


def test_lists_and_search_tell_it_from_other_jobs_that_wait(pair):
    found = {
        state: [str(job.pk) for job in search(state=state, now=database_now()).jobs]
        for state in ("waiting", "delayed", "blocked")
    }
    assert found == {"waiting": [pair[0]], "delayed": [], "blocked": [pair[1]]}


def test_nobody_starts_it_by_hand(pair, queue):
    job = queue.get(pair[1])
    assert not actions.run_now(int(job.id))
    job.reset()
    assert job.state == "blocked"


def test_one_that_is_started_over_waits_again(pair, crew, queue):
    first, second = pair
    crew.drain(failing=[first])
    actions.reset(int(first))
    actions.reset(int(second))
    assert queue.get(second).state == "blocked"
    assert crew.drain() == [first, second]


def test_one_that_is_started_over_alone_runs_at_once(pair, crew):
    first, second = pair
    crew.drain(failing=[first])
    actions.reset(int(second))
    assert crew.drain() == [second]


def test_aborting_a_blocked_job_leaves_the_other_alone(pair, crew, queue):
    first, second = pair
    actions.abort(int(second))
    assert crew.drain() == [first]
    assert queue.get(second).state == "aborted"
    actions.reset(int(second))
    assert crew.drain() == [second]


def test_sticky_jobs_and_flows_keep_their_order(queue, act, crew):
    first = queue.push(act)
    in_flow = queue.push(act, after=[first], flow_key="acme")
    sticky = queue.push(act, after=[first], sticky_key="customer-7")
    assert crew.drain() == [first, in_flow]
    assert queue.get(sticky).state == "waiting"
    assert row(sticky).priority == 0


def test_priorities_are_those_of_the_push(queue, act, crew):
    first = queue.push(act)
    low = queue.push(act, after=[first], priority=-2)
    high = queue.push(act, after=[first], priority=2)
    assert [row(low).priority, row(high).priority] == [-2, 2]
    assert crew.drain() == [first, high, low]


def test_a_push_that_is_rolled_back_leaves_no_link(queue, act):
    from django.db.transaction import atomic

    first = queue.push(act)
    with pytest.raises(RuntimeError), atomic():
        queue.push(act, after=[first])
        raise RuntimeError
    assert not Dependency.objects.exists()
    assert not row(first).awaited


def test_the_curator_releases_what_a_crash_left(pair, queue, mend):
    QueuedJob.objects.filter(pk=pair[0]).update(status="complete", ended_at=database_now())
    assert mend() == 1
    assert queue.get(pair[1]).state == "waiting"
    assert mend() == 0


def test_the_curator_fails_what_a_crash_left(pair, queue, act, mend):
    third = queue.push(act, after=[pair[1]])
    QueuedJob.objects.filter(pk=pair[0]).update(status="failed", ended_at=database_now())
    assert mend() == 2
    assert queue.get(third).status == "failed"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"after": ["123"]}, "after names job 123, which does not exist"),
        ({"after": ["x"]}, "after must be an id such as '26111603463755600', not 'x'"),
        ({"after": "123"}, "after must be a list of ids of jobs, not '123'"),
        ({"after": list(range(1, 1002))}, "after has at most 1000 ids"),
        ({"even_if_failed": True}, "even_if_failed needs after"),
        ({"after": [1], "debounce": True, "unique_key": "k"}, "debounce cannot be combined"),
    ],
)
def test_bad_links_are_refused(queue, act, options, sentence):
    with pytest.raises(BadPush, match=sentence):
        queue.push(act, **options)
    assert not QueuedJob.objects.exists()


def test_a_job_that_never_ends_is_not_waited_for(queue, act):
    endless = queue.push(act, repeat_times=-1)
    with pytest.raises(BadPush, match=f"job {endless}, which repeats without an end"):
        queue.push(act, after=[endless])
