"""A script decides how its attempt ends: snooze, retry with a delay, give up."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

import queues
from allocation.transactions.documents.client import Client
from queues.children.messages import Nonsense, understood
from queues.execution import endings
from queues.logic.lifecycle import Counts, Outcome, Policy, Status, after
from queues.logic.options import BadOption
from queues.models import QueuedJob, Run, RunLog

HOUR_MS = 3_600_000
NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def end(queue, probe):
    """end("snooze", …) → a job that ends its first attempt like that."""

    def push(how, *arguments, times=1, by=None, write=None, **options):
        order = {"end": how, "with": arguments, "times": times, "by": by or {}}
        order |= {} if write is None else {"write": write}
        return queue.get(queue.push({"mount": probe, "name": "ending"}, order, **options))

    return push


def outcomes(job):
    return list(Run.objects.filter(job=job.id).order_by("attempt").values_list("outcome", "error"))


def test_a_snoozed_job_starts_again_at_its_moment_without_a_failure(end, hands, pass_time):
    job = end("snooze", HOUR_MS, max_failures=0)
    hands.drain()
    row = QueuedJob.objects.get(pk=job.id)
    assert (row.status, row.run_failures, row.runs) == ("pending", 0, 0)
    assert (row.due_at - row.started_at) / timedelta(milliseconds=1) >= HOUR_MS - 1
    pass_time()
    hands.drain()
    assert (job.status, job.result, job.runs) == ("complete", "done", 1)
    assert outcomes(job) == [("snoozed", ""), ("complete", "")]


def test_a_moment_is_taken_as_it_is_and_the_reason_is_in_the_log(end, hands):
    until = datetime(2100, 1, 1, tzinfo=UTC)
    job = end("snooze", by={"until": until.timestamp() * 1000, "reason": "the bank is closed"})
    hands.drain()
    assert job.delay_until == until
    assert RunLog.objects.get(job=job.id).text == "snoozed: the bank is closed"


def test_what_a_snoozed_attempt_wrote_is_rolled_back(end, hands):
    end("snooze", HOUR_MS, write="letter")
    hands.drain()
    assert not Client().get("ending", "letter").ok


def test_giving_up_leaves_retries_unused_and_calls_the_callback(end, hands, probe):
    called = {"mount": probe, "name": "called"}
    job = end("give_up", "no such customer", times=9, max_failures=5, failure=called)
    hands.drain()
    assert (job.status, job.failures) == ("failed", ["no such customer"])
    assert QueuedJob.objects.filter(parent=job.id).count() == 1


def test_a_schedule_goes_on_after_giving_up(end, hands):
    job = end("give_up", times=1, repeat_times=1)
    hands.drain()
    assert (job.status, job.runs) == ("complete", 2)
    assert job.failures == ["the script gave up"]


def test_a_retry_with_a_delay_is_a_failure_that_counts(end, hands, pass_time):
    job = end("retry", HOUR_MS, times=9, max_failures=1, back_off=0)
    hands.drain()
    row = QueuedJob.objects.get(pk=job.id)
    assert (row.status, row.run_failures) == ("pending", 1)
    assert (row.due_at - row.started_at) / timedelta(milliseconds=1) >= HOUR_MS - 1
    pass_time()
    hands.drain()
    assert (job.status, len(job.failures)) == ("failed", 2)


def test_a_wrong_delay_is_an_error_of_the_script(end, hands):
    job = end("snooze", -1)
    hands.drain()
    assert job.result.startswith("caught delay must be between 0 and")


@pytest.mark.parametrize("given", [{}, {"delay": 1, "until": 1}])
def test_a_snooze_takes_one_moment(given):
    with pytest.raises(BadOption, match="either a delay or until"):
        queues.snooze(**given)


@given(
    st.integers(-1, 5), st.integers(0, 5), st.integers(0, 5), st.sampled_from([None, NOW, "later"])
)
def test_a_snooze_changes_no_count_that_ends_a_job(most, failures, runs, until):
    moment = NOW + timedelta(days=1) if until == "later" else until
    counts = Counts(runs, failures, 2)
    step = after(
        Policy(most), counts, Outcome.SNOOZED, started_at=NOW, now=NOW, back_off_ms=5, until=moment
    )
    assert (step.status, step.callback) == (Status.PENDING, None)
    assert step.counts == Counts(runs, failures, 0)
    assert step.due_at == (moment or NOW + timedelta(milliseconds=5))


@given(st.integers(-1, 5), st.integers(0, 5))
def test_giving_up_ends_the_run_whatever_is_allowed(most, failures):
    step = after(
        Policy(most), Counts(0, failures), Outcome.FAILED, started_at=NOW, now=NOW, is_final=True
    )
    assert (step.status, step.counts.runs) == (Status.FAILED, 1)


@pytest.mark.parametrize("member", ['"ending": "explode"', '"due": -1', '"due": 1e99'])
def test_a_forged_ending_is_nonsense(member):
    line = (
        '{"t": "done", "ok": false, "batch": 1, "job": 1, "begun": 1, "seconds": 1, "spent": "",'
        ' "error": "", "traceback": "", "abandoned": false, "back_off": null, "status_code": null,'
        f" {member}}}"
    )
    with pytest.raises(Nonsense):
        understood(line.encode())


def test_an_ending_is_no_exception_that_a_script_would_handle():
    assert not issubclass(endings.ScriptEnding, Exception)
