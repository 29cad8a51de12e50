"""Ways to end jobs as a worker does, without a process that runs them."""

import pytest

import queues
from atributo_site.core.leases import HeldLease
from atributo_site.core.models.clock import database_now
from queues.logic.lifecycle import Outcome
from queues.maintenance.links import Links
from queues.models import QueuedJob
from queues.runs import outcomes
from queues.runs.outcome_rows import AttemptResult
from queues.runs.reservation import reserve
from queues.runs.slots import acquire


class Crew:
    """Begins and ends jobs of the queue `work`, in as many slots as are asked for."""

    def begin(self, number=0, count=1):
        """Reserve the next jobs; return the slot and its results, which succeed unless changed."""
        slot = acquire("work", number, f"crew-{number}")
        batch = reserve(slot, count)
        jobs = batch.jobs if batch is not None else []
        return slot, [AttemptResult(job, Outcome.COMPLETE, batch.now, batch.now) for job in jobs]

    def end(self, slot, results, failing=()):
        for result in results:
            if str(result.job.id) in failing:
                result.outcome, result.error = Outcome.FAILED, "told to fail"
        outcomes.record_all(slot, results, "crew")
        slot.release()

    def drain(self, failing=(), count=50):
        """Run what may start until nothing may; return the ids in the order of their ends."""
        order = []
        while True:
            slot, results = self.begin(count=count)
            self.end(slot, results, failing)
            if not results:
                return order
            order += [str(result.job.id) for result in results]


@pytest.fixture
def queue(probe):
    return queues.create("work", max_workers=4)


@pytest.fixture
def crew(queue):
    return Crew()


@pytest.fixture
def called(probe):
    return {"mount": probe, "name": "called"}


@pytest.fixture
def mend(queue):
    """Do what the curator does for batches and jobs that wait; return how many were settled."""
    lease = HeldLease.take("curator", "test", 3600)
    return lambda: Links().mend(database_now(), lease)


@pytest.fixture
def callbacks():
    """callbacks(batch) → the jobs that its ends have pushed."""

    def pushed(batch):
        return list(QueuedJob.objects.filter(pushed_by=f"batch:{batch.id}").order_by("pk"))

    return pushed


@pytest.fixture
def states():
    def of(*ids):
        known = dict(QueuedJob.objects.filter(pk__in=ids).values_list("pk", "status"))
        return [known.get(int(each), "gone") for each in ids]

    return of
