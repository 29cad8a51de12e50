"""What a queue's retention forgets, and what it keeps."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db.models import F

from queues import catalogue
from queues.maintenance.invariants import gaps_between_attempts
from queues.models import QueuedJob, Run, RunLog

LONG_AGO = timedelta(days=4)
NOW = datetime.now(UTC)


@pytest.fixture
def queue(queue):
    catalogue.set_retention("work", 3)
    return queue


def test_old_jobs_are_forgotten_by_their_queues_retention(queue, act, hands, sweep):
    old = queue.push(act, {"say": ["x"]})
    hands.drain()
    new = queue.push(act)
    hands.drain()
    QueuedJob.objects.filter(pk=old).update(ended_at=F("ended_at") - LONG_AGO)
    sweep()
    assert queue.all() == [new]


def test_old_attempts_at_a_job_that_goes_on_are_forgotten(queue, act, hands, sweep, pass_time):
    job = queue.get(queue.push(act, {"say": ["x"]}, repeat_times=-1, repeat_delay=60_000))
    for _ in range(4):
        hands.drain()
        pass_time()
    QueuedJob.objects.update(created_at=F("created_at") - LONG_AGO)
    Run.objects.filter(attempt__lte=2).update(ended_at=F("ended_at") - LONG_AGO)
    assert sweep()["old attempts"] == 2
    for rows in (Run, RunLog):
        assert list(rows.objects.values_list("attempt", flat=True)) == [3, 4]
    assert gaps_between_attempts(QueuedJob.objects.all()) == []
    Run.objects.create(job_id=job.id, attempt=6, number=6, outcome="failed", started_at=NOW)
    assert gaps_between_attempts(QueuedJob.objects.all()) == [job.id]
    assert (job.status, job.runs) == ("pending", 4)
