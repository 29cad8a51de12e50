"""A job that has not started by `expires_at` ends as expired, and never begins."""

from datetime import timedelta

import pytest

from atributo_site.core.models import Event
from atributo_site.core.models.clock import database_now
from queues.errors import BadPush
from queues.models import QueuedJob
from queues.queries.search import search
from queues.runs.reservation import reserve
from queues.runs.slots import acquire


@pytest.fixture
def late(queue, act):
    """late(…) → a job whose moment is over."""

    def push(**options):
        past = database_now() - timedelta(seconds=1)
        return queue.get(queue.push(act, expires_at=past, **options))

    return push


def states(job):
    now = database_now()
    names = ("waiting", "failed", "aborted", "expired")
    return [name for name in names if search(state=name, now=now).jobs.filter(pk=job.id).exists()]


def test_the_sweep_ends_what_has_not_started_in_time(late, sweep):
    job = late(failure={"mount": "/probe", "name": "called"})
    sweep()
    assert (job.status, job.is_expired, job.failures) == ("failed", True, ["Job expired."])
    assert states(job) == ["expired"]
    assert Event.objects.filter(kind="job.expired", subject=f"job:{job.id}").count() == 1
    assert not QueuedJob.objects.filter(parent=job.id).exists()


def test_a_worker_that_comes_first_does_not_begin_it(late, queue, act, hands):
    job, other = late(), queue.get(queue.push(act))
    hands.drain()
    assert (job.status, job.is_expired, job.runs) == ("failed", True, 0)
    assert other.status == "complete"


def test_a_job_that_may_still_start_runs(queue, act, hands, sweep):
    job = queue.get(queue.push(act, expires_at=database_now() + timedelta(hours=1)))
    sweep()
    hands.drain()
    assert (job.status, job.is_expired) == ("complete", False)


def test_a_retry_is_no_first_start(queue, act, hands, sweep, tmp_path):
    order = {"file": str(tmp_path / "ran"), "fail_first": 1}
    soon = database_now() + timedelta(hours=1)
    job = queue.get(queue.push(act, order, max_failures=1, back_off=0, expires_at=soon))
    slot = acquire(queue.name, 0, "hands")
    QueuedJob.objects.filter(pk=job.id).update(attempt=1, expires_at=database_now())
    sweep()
    assert job.status == "pending"
    assert [each.id for each in reserve(slot, 1).jobs] == [int(job.id)]


def test_reset_lets_it_start_without_the_limit(late, sweep, hands):
    job = late()
    sweep()
    job.reset()
    hands.drain()
    assert (job.status, job.is_expired, job.expires_at) == ("complete", False, None)


def test_one_of_a_sticky_key_lets_the_next_one_start(late, sweep, queue, act):
    late(sticky_key="k")
    second = queue.push(act, sticky_key="k")
    sweep()
    assert QueuedJob.objects.get(pk=second).rank in range(8, 13)


def test_a_moment_before_the_start_is_refused(queue, act):
    now = database_now()
    with pytest.raises(BadPush, match="expires_at must be later"):
        queue.push(act, expires_at=now, delay_until=now + timedelta(seconds=1))
    assert queue.all() == []


def test_the_job_page_and_the_list_say_expired(late, sweep, client_as):
    job = late()
    sweep()
    page = client_as("viewer").get(f"/jobs/{job.id}/").content.decode()
    assert "Expired" in page and "It had not started by" in page
    listed = client_as("viewer").get("/jobs/?state=expired").content.decode()
    assert job.id in listed
