"""Curators are killed while slots come due: every slot has exactly one job."""

import random
from datetime import timedelta

import pytest

from atributo_site.core.models.clock import database_now
from queues.models import QueuedJob, Schedule, ScheduledRun
from queues.schedules.definition import rule_of

QUICK = {
    "ATRIBUTO_CURATOR_HEARTBEAT_INTERVAL_MS": "200",
    "ATRIBUTO_CURATOR_HEARTBEAT_TIMEOUT_MS": "1000",
}


@pytest.fixture
def every_second(make):
    """Five schedules that expect a run every second, each with a rhythm of its own."""
    made = [make(f"s{number}", rule={"every": 1000}, overlap="beside") for number in range(5)]
    return [Schedule.objects.get(pk=each.pk) for each in made]


def kill_over_and_over(curator, wait_until, schedules, times):
    """Kill the curator at any moment, until slots have come due after the last one."""
    for number in range(times):
        process = curator(number)
        before = ScheduledRun.objects.count()
        wait_until(
            lambda seen=before: ScheduledRun.objects.count() > seen + random.randrange(9), 120
        )
        process.kill()
        process.wait()
    last = curator(times)
    end = database_now() + timedelta(seconds=2)
    moved_on = Schedule.objects.filter(next_at__gt=end)
    wait_until(lambda: moved_on.count() == len(schedules), 120)
    last.kill()  # nothing changes while the slots are compared
    last.wait()
    return end


def assert_each_slot_has_one_job(schedules, end):
    for schedule in schedules:
        slots = list(
            schedule.expected_runs.filter(slot_at__lte=end)
            .order_by("slot_at")
            .values_list("slot_at", flat=True)
        )
        expected = []
        for moment in rule_of(schedule).following(schedule.created_at):
            if moment > end:
                break
            expected.append(moment)
        first = schedule.next_at
        assert slots == [moment for moment in expected if moment >= first]
    runs = ScheduledRun.objects.count()
    jobs = set(QueuedJob.objects.values_list("pk", flat=True))
    assert len(jobs) == runs
    assert jobs == set(ScheduledRun.objects.values_list("job_id", flat=True))


@pytest.fixture
def curator(spawn):
    """curator(number) → a running curator with a short lease."""
    return lambda number: spawn("run_curator", "--name", f"c{number}", env=QUICK)


def test_a_killed_curator_leaves_every_slot_with_one_job(curator, wait_until, every_second):
    end = kill_over_and_over(curator, wait_until, every_second, 2)
    assert_each_slot_has_one_job(every_second, end)


@pytest.mark.soak
def test_two_hundred_killed_curators_leave_every_slot_with_one_job(
    curator, wait_until, every_second
):
    end = kill_over_and_over(curator, wait_until, every_second, 200)
    assert_each_slot_has_one_job(every_second, end)
