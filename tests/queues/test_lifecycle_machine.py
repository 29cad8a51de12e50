"""Any history of pushes, runs, failures, crashes, aborts and time, against a model of 30 lines."""

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    invariant,
    rule,
    run_state_machine_as_test,
)

import queues
from allocation.leases import HeldLease
from allocation.models.clock import database_now
from queues.ledger import finish, start
from queues.logic.lifecycle import Outcome
from queues.models import QueuedJob, Run, RunLog, Slot
from queues.recovery import recover
from queues.reserved import reserve
from queues.settle import Ending
from queues.slots import acquire

SCRIPT = {"mount": "/model", "name": "x"}
CALLED = {"mount": "/model", "name": "called"}
MOST_JOBS = 4


class Expected:
    """What one job must have come to, by the words of the promise."""

    def __init__(self, k, n):
        self.k, self.n = k, n
        self.status, self.running = "pending", False
        self.executions = self.runs = self.failures = self.lost = 0
        self.callbacks = []

    def begin(self):
        self.executions += 1

    def succeed(self):
        self._finish("complete")

    def fail(self):
        self.failures, self.lost = self.failures + 1, 0
        if self.failures > self.k:
            self._finish("failed")

    def lose(self):
        self.lost += 1
        if self.lost == 3:
            self._finish("failed")

    def _finish(self, status):
        self.runs, self.lost = self.runs + 1, 0
        self.callbacks.append(status)
        if self.runs <= self.n:
            self.status, self.failures = "pending", 0
        else:
            self.status = status


class Lifecycle(RuleBasedStateMachine):
    jobs = Bundle("jobs")

    def __init__(self, lease):
        super().__init__()
        self.lease = lease
        self.expected = {}
        self.held = None
        queues.create("model", 1)
        self.queue = queues.get("model")

    @rule(target=jobs, k=st.integers(0, 2), n=st.integers(0, 2))
    def push(self, k, n):
        if len(self.expected) >= MOST_JOBS:
            return next(iter(self.expected))
        options = {"max_failures": k, "repeat_times": n, "back_off": 0}
        job_id = self.queue.push(SCRIPT, {}, success=CALLED, failure=CALLED, **options)
        self.expected[int(job_id)] = Expected(k, n)
        return int(job_id)

    @rule()
    def begin(self):
        """Start the first due job, as a worker does."""
        if self.held is not None:
            return
        QueuedJob.objects.exclude(parent=None).update(due_at="2100-01-01T00:00Z")
        slot = acquire("model", 0, "machine")
        batch = reserve(slot, 1)
        if batch is None:
            slot.release()
            return
        assert start(slot, batch.jobs[0], "machine", 0.0)
        self.expected[batch.jobs[0].id].begin()
        self.held = slot, batch

    @rule(outcome=st.sampled_from([Outcome.COMPLETE, Outcome.FAILED, Outcome.RELEASED]))
    def end(self, outcome):
        if self.held is None:
            return
        slot, batch = self.held
        job = batch.jobs[0]
        accepted = finish(slot, [Ending(job, outcome, batch.now, batch.now)], "machine")
        slot.release()
        self.held = None
        if accepted and outcome is Outcome.COMPLETE:
            self.expected[job.id].succeed()
        if accepted and outcome is Outcome.FAILED:
            self.expected[job.id].fail()

    @rule()
    def crash(self):
        """The worker dies; its lease runs out; the curator comes."""
        if self.held is None:
            return
        slot, batch = self.held
        Slot.objects.filter(pk=slot.id).update(leased_until="2000-01-01T00:00Z")
        ours = QueuedJob.objects.filter(pk=batch.jobs[0].id, status="progress").exists()
        assert recover(slot.id, database_now(), self.lease)
        self.held = None
        if ours:
            self.expected[batch.jobs[0].id].lose()

    @rule(job=jobs)
    def abort(self, job):
        self.queue.get(str(job)).abort()
        if self.expected[job].status == "pending":
            self.expected[job].status = "failed"

    @invariant()
    def rows_are_as_promised(self):
        for job_id, wanted in self.expected.items():
            row = QueuedJob.objects.get(pk=job_id)
            shown = "pending" if row.status == "progress" else row.status
            callbacks = QueuedJob.objects.filter(parent=job_id).count()
            attempts = list(Run.objects.filter(job_id=job_id).values_list("attempt", flat=True))
            assert (shown, row.runs) == (wanted.status, wanted.runs)
            assert callbacks == len(wanted.callbacks) == wanted.runs
            assert attempts == list(range(1, wanted.executions + 1))
            assert row.lost == wanted.lost

    def teardown(self):
        RunLog.objects.all().delete()
        Run.objects.all().delete()
        QueuedJob.objects.all().delete()
        Slot.objects.all().update(holder="", leased_until=None, rung_at=None)


@pytest.mark.parametrize("examples", [8])
def test_every_history_ends_as_promised(transactional_db, examples):
    play(examples, 20)


@pytest.mark.soak
@pytest.mark.parametrize("examples", [500])
def test_many_histories_end_as_promised(transactional_db, examples):
    play(examples, 50)


def play(examples, steps):
    lease = HeldLease.take("curator", "machine", 3600)
    run_state_machine_as_test(
        lambda: Lifecycle(lease),
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
