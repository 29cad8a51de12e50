"""Any history of pushes, runs, failures, crashes, aborts and time, against a model of 30 lines."""

from datetime import timedelta

import pytest
from django.db.models import F
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
from atributo_site.core.errors import LeaseLost
from atributo_site.core.leases import HeldLease
from atributo_site.core.models.clock import database_now
from queues.logic.lifecycle import Outcome
from queues.maintenance.recovery import recover
from queues.models import QueuedJob, Run, RunLog, Slot
from queues.runs.outcome_rows import AttemptResult
from queues.runs.outcomes import record, record_start
from queues.runs.reservation import reserve
from queues.runs.slots import acquire

SCRIPT = {"mount": "/model", "name": "x"}
CALLED = {"mount": "/model", "name": "called"}
MOST_JOBS = 4
MINUTE = 60  # longer than a lease, and than a history takes to play
BETWEEN = 150  # of two moments that the clock can show, so that a moment more changes nothing


class Expected:
    """What one job must have come to, by the words of the promise; times in seconds."""

    def __init__(self, k, n, delay, until):
        self.k, self.n, self.delay, self.until = k, n, delay, until
        self.status, self.due = "pending", None  # None is 'at once'
        self.executions = self.runs = self.failures = self.lost = 0
        self.callbacks = []

    def is_due(self, now):
        return self.status == "pending" and (self.due is None or self.due <= now)

    def begin(self):
        self.executions += 1

    def succeed(self, started):
        self._finish("complete", started)

    def fail(self, started, now, back_off):
        self.failures, self.lost = self.failures + 1, 0
        self.due = now + back_off
        if self.failures > self.k:
            self._finish("failed", started)

    def lose(self, started):
        self.lost, self.due = self.lost + 1, None
        if self.lost == 3:
            self._finish("failed", started)

    def _finish(self, status, started):
        self.runs, self.lost = self.runs + 1, 0
        self.callbacks.append(status)
        if self.runs <= self.n and (self.until is None or started <= self.until):
            self.status, self.failures = "pending", 0
            self.due = started + self.delay
        else:
            self.status = status


class Lifecycle(RuleBasedStateMachine):
    jobs = Bundle("jobs")

    def __init__(self, lease):
        super().__init__()
        self.lease = lease
        self.expected = {}
        self.now = 0
        self.held = None  # slot, job, when it was started by the rows and by our clock
        queues.create("model", 1)
        self.queue = queues.get("model")

    @rule(
        target=jobs,
        k=st.integers(0, 2),
        n=st.integers(0, 2),
        delay=st.sampled_from([0, MINUTE]),
        until=st.sampled_from([None, BETWEEN]),
    )
    def push(self, k, n, delay, until):
        if len(self.expected) >= MOST_JOBS:
            return next(iter(self.expected))
        options = {"max_failures": k, "repeat_times": n, "repeat_delay": delay * 1000}
        if until is not None:
            options["repeat_until"] = database_now() + timedelta(seconds=until)
        job_id = int(self.queue.push(SCRIPT, {}, success=CALLED, failure=CALLED, **options))
        limit = None if until is None else self.now + until
        self.expected[job_id] = Expected(k, n, delay, limit)
        return job_id

    @rule()
    def begin(self):
        """Start the first due job, as a worker does; there is one exactly if one is due."""
        QueuedJob.objects.exclude(parent=None).update(due_at="2100-01-01T00:00Z")
        slot = None if self.held else acquire("model", 0, "machine")
        if slot is None:
            return
        batch = reserve(slot, 1)
        due = {job for job, wanted in self.expected.items() if wanted.is_due(self.now)}
        assert {job.id for job in batch.jobs} <= due if batch else not due
        if batch is None:
            slot.release()
            return
        assert record_start(slot, batch.jobs[0], "machine", 0.0)
        self.expected[batch.jobs[0].id].begin()
        self.held = slot, batch.jobs[0], batch.now, self.now

    @rule(
        outcome=st.sampled_from([Outcome.COMPLETE, Outcome.FAILED, Outcome.RELEASED]),
        back_off=st.sampled_from([0, MINUTE]),
    )
    def end(self, outcome, back_off):
        """Tell how it ended; too late once the lease is over, whether the curator came or not."""
        if self.held is None:
            return
        slot, job, moment, started = self.held
        self.held = None
        ended = database_now()
        ending = AttemptResult(job, outcome, moment, ended, back_off_ms=back_off * 1000)
        try:
            accepted = record(slot, [ending], "machine")
        except LeaseLost:
            assert self.now - started >= MINUTE
            return
        assert self.now - started < MINUTE
        slot.release()
        if accepted and outcome is Outcome.COMPLETE:
            self.expected[job.id].succeed(started)
        if accepted and outcome is Outcome.FAILED:
            self.expected[job.id].fail(started, self.now, back_off)

    @rule(seconds=st.sampled_from([MINUTE, 3 * MINUTE]))
    def pass_time(self, seconds):
        """The clock goes on: seen from now, everything in the rows lies that much earlier."""
        earlier = timedelta(seconds=seconds)
        for column in ("due_at", "repeat_until", "started_at"):
            there = QueuedJob.objects.filter(parent=None, **{f"{column}__isnull": False})
            there.update(**{column: F(column) - earlier})
        Slot.objects.exclude(holder="").update(leased_until=F("leased_until") - earlier)
        self.now += seconds
        if self.held is not None:
            slot, job, moment, started = self.held
            self.held = slot, job, moment - earlier, started

    @rule()
    def curate(self):
        """The curator recovers what was held by a worker whose lease is over."""
        for slot in Slot.objects.filter(queue__name="model").expired():
            running = list(QueuedJob.objects.filter(slot=slot, status="progress"))
            assert recover(slot.pk, database_now(), self.lease)
            for job in running:
                age = database_now() - job.started_at
                self.expected[job.pk].lose(self.now - round(age.total_seconds() / MINUTE) * MINUTE)

    @rule()
    def crash(self):
        """The worker dies: nobody ends what it held."""
        self.held = None

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
