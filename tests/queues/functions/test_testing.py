"""Run what is due in this process, see what was pushed, and make runs fail at a point."""

from datetime import timedelta

import pytest

import queues
from allocation.transactions import Client, Transaction
from atributo_site.core.models.clock import database_now
from queues import schedules
from queues.models import QueuedJob, Run, RunLog, ScheduledRun

HOUR = timedelta(hours=1)


@pytest.fixture
def queue(jobs, shop):
    return queues.create("orders")


def outcomes(ran):
    return [(each.script, each.outcome) for each in ran]


def test_what_is_due_runs_in_this_process(queue, jobs, shop):
    first, second = queue.push(shop.add, 1), queue.push(shop.later, 4)
    ran = jobs.run_due()
    assert [(each.job_id, each.result) for each in ran] == [(first, 3), (second, 8)]
    assert queue.get(first).status == "complete"
    assert RunLog.objects.get().text == "from the loop"
    assert jobs.run_due() == []


def test_time_passes_up_to_the_moment_that_is_given(queue, jobs, shop):
    job_id = queue.push(shop.add, 1, repeat_times=-1, repeat_delay=timedelta(minutes=20))
    later = queue.push(shop.add, 2, delay=timedelta(minutes=30))
    never = queue.push(shop.add, 3, delay=timedelta(minutes=90))
    begun = queue.get(never).delay_until - timedelta(minutes=90)
    ran = jobs.run_due(timedelta(minutes=65))
    assert [each.job_id for each in ran] == [job_id, job_id, later, job_id, job_id]
    assert queue.get(never).status == "pending"
    assert queue.get(never).delay_until - begun == timedelta(minutes=90)
    next_run = queue.get(job_id).delay_until - begun
    assert timedelta(minutes=80) <= next_run < timedelta(minutes=85)


def test_retries_wait_for_their_back_off(queue, jobs, shop):
    queue.push(shop.fail, back_off=60_000)
    assert outcomes(jobs.run_due()) == [("fail", "failed")]
    assert outcomes(jobs.run_due(HOUR)) == [("fail", "failed")] * 2


def test_jobs_that_never_end_are_noticed(queue, jobs, shop):
    queue.push(shop.add, 1, repeat_times=-1)
    with pytest.raises(AssertionError, match="the jobs do not end"):
        jobs.run_due(most=20)


def test_only_the_queues_that_are_named_run(queue, jobs, shop):
    queue.push(shop.add, 1)
    assert jobs.run_due(HOUR, queues=["others"]) == []
    queues.pause("orders")
    assert jobs.run_due(HOUR) == []


def test_a_run_completes_its_transaction_and_its_pushes(queue, jobs, shop):
    queues.create("default")
    queue.push(shop.write, "x")
    assert outcomes(jobs.run_due()) == [("write", "complete"), ("add", "complete")]
    assert Client().get("shop", "x").status_code == 200


def test_jobs_that_wait_for_others_run_after_them(queue, jobs, shop):
    first = queue.push(shop.add, 1)
    queue.push(shop.later, 4, after=[first])
    assert outcomes(jobs.run_due()) == [("add", "complete"), ("later", "complete")]
    failed = queue.push(shop.fail, max_failures=0)
    never = queue.push(shop.later, 4, after=[failed])
    assert outcomes(jobs.run_due()) == [("fail", "failed")]
    assert queue.get(never).status == "failed"


def test_a_batch_calls_back_when_it_has_ended(queue, jobs, shop):
    with queue.batch(done=shop.sum_up) as batch:
        batch.push_many(shop.add, [[1], [2]])
    assert [each.script for each in jobs.run_due()] == ["add", "add", "sum_up"]


def test_limits_let_jobs_start_when_a_worker_would(queue, jobs, shop):
    queues.set_limits("orders", [{"per": "queue", "rate": "1/min"}])
    pushed = [queue.push(shop.add, number) for number in range(3)]
    assert [each.job_id for each in jobs.run_due()] == pushed[:1]
    assert [each.job_id for each in jobs.run_due(timedelta(seconds=90))] == pushed[1:2]
    assert [each.job_id for each in jobs.run_due(HOUR)] == pushed[2:]


def test_one_at_a_time_holds_nothing_back_for_good(queue, jobs, shop):
    queues.set_limits("orders", [{"per": "key", "at_once": 1}])
    pushed = [queue.push(shop.add, number, flow_key="ann") for number in range(3)]
    assert [each.job_id for each in jobs.run_due()] == pushed


def test_a_job_expires_at_its_moment(queue, jobs, shop):
    queues.pause("orders")
    job_id = queue.push(shop.add, 1, expires_at=database_now() + HOUR)
    moment = queue.get(job_id).expires_at
    jobs.run_due(HOUR / 2)
    assert queue.get(job_id).status == "pending"
    jobs.run_due(2 * HOUR)
    assert (queue.get(job_id).status, queue.get(job_id).expires_at) == ("failed", moment)


def test_schedules_fire_at_the_moments_of_their_rules(queue, jobs, shop):
    script = {"mount": shop.add.__module__, "name": "add"}
    rule = {"every": "1h", "anchor": "2030-01-01T00:30:00+00:00"}
    made = schedules.create("hourly", script=script, queue="orders", rule=rule, data=[1])
    first = made.next_at
    ran = jobs.run_due(first + 2.5 * HOUR)
    assert outcomes(ran) == [("add", "complete")] * 3
    slots = list(ScheduledRun.objects.order_by("slot_at").values_list("slot_at", flat=True))
    assert slots == [first, first + HOUR, first + 2 * HOUR]
    made.refresh_from_db()
    assert (made.next_at, made.runs) == (first + 3 * HOUR, 3)


def test_a_push_of_a_completed_transaction_runs(queue, jobs, shop):
    with Transaction(Client()) as txn:
        queue.push(shop.add, 1, transaction=txn)
        assert jobs.run_due() == []
    assert outcomes(jobs.run_due()) == [("add", "complete")]


@pytest.mark.parametrize("at", ["begin", "written", "half", "end"])
def test_a_run_fails_at_the_point_that_is_chosen(queue, jobs, shop, at):
    queue.push(shop.write, "x", max_failures=1, back_off=0)
    with jobs.fail(shop.write, OSError("no disk"), at=at) as fault:
        ran = jobs.run_due()
    assert (ran[0].outcome, ran[0].error) == ("failed", "OSError: no disk")
    assert (ran[1].outcome, ran[1].result, fault.count) == ("complete", 2, 1)


@pytest.mark.parametrize("at", ["begin", "written", "end"])
def test_a_worker_dies_at_the_point_that_is_chosen(queue, jobs, shop, at):
    queue.push(shop.write, "x")
    with jobs.kill(shop.write, at=at):
        ran = jobs.run_due()
    assert outcomes(ran)[:2] == [("write", "lost"), ("write", "complete")]
    assert Run.objects.filter(outcome="lost").get().error == "the worker died"
    assert len(jobs.pushed(shop.add)) == 1


def test_time_is_up_at_the_point_that_is_chosen(queue, jobs, shop):
    queue.push(shop.write, "x", timeout=60_000)
    with jobs.time_out(shop.write, at="written"):
        ran = jobs.run_due()
    assert (ran[0].outcome, ran[0].error) == ("failed", "TimedOut: timed out after 1m")
    assert Client().get("shop", "x").status_code == 404


def test_a_real_time_out_interrupts_a_run(queue, jobs, shop, tmp_path):
    queue.push(shop.stay, str(tmp_path / "marks"), timeout=200)
    assert jobs.run_due()[0].error == "TimedOut: timed out after 200ms"


def test_pushes_are_asserted_with_arguments_and_options(queue, jobs, shop):
    jobs.assert_nothing_pushed()
    queue.push(shop.add, 1, b=2, priority=1, sticky_key="k")
    found = jobs.assert_pushed(shop.add, 1, 2, queue="orders", sticky_key="k", priority=1, times=1)
    assert found.data == {"a": 1, "b": 2}
    jobs.assert_not_pushed(shop.fail)
    for wrong in ((shop.add, 2), (shop.fail,)):
        with pytest.raises(AssertionError, match=r"shop_jobs.add in orders with \{'a': 1"):
            jobs.assert_pushed(*wrong)
    with pytest.raises(AssertionError, match="pushed 1 times, not 2"):
        jobs.assert_pushed(shop.add, times=2)
    with pytest.raises(AssertionError, match="pushed after all"):
        jobs.assert_not_pushed(shop.add)
    with pytest.raises(AssertionError, match="pushed after all"):
        jobs.assert_nothing_pushed()


def test_scripts_of_services_run_as_well(queue, jobs, service_roots):
    from queues.services import installation

    installation.install("multiplier", "/multiplier", setup=False)
    script = {"mount": "/multiplier", "name": "multiply"}
    queue.push(script, [6, 7], success=script)
    assert jobs.run_due()[0].result == 42
    jobs.assert_pushed(script, [6, 7])
    assert QueuedJob.objects.exclude(parent=None).count() == 1
