"""What becomes of pushed jobs."""

import json
import math
from datetime import UTC, datetime, timedelta

import pytest

import queues
from queues.children.child_process import Workhorse
from queues.execution.context import Log
from queues.models import MinuteCount, QueuedJob, Run, RunLog
from queues.runs.slots import acquire
from queues.tasks import task
from queues.worker.slot_runner import LARGEST_MESSAGE, SlotRunner


def file_of(tmp_path, name="ran"):
    return str(tmp_path / name)


def calls(tmp_path):
    path = tmp_path / "calls"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def test_a_job_completes_once(queue, act, hands, tmp_path, executions):
    job = queue.get(queue.push(act, {"file": file_of(tmp_path), "result": {"a": [1]}}))
    hands.drain()
    assert (job.status, job.runs, job.result, executions()) == ("complete", 1, {"a": [1]}, 1)


@pytest.mark.parametrize(
    ("data", "argv"), [(None, []), ([1, 2], [1, 2]), ({"a": 1}, [{"a": 1}]), ("x", ["x"])]
)
def test_arguments_are_spread_like_everywhere(queue, act, hands, data, argv):
    job = queue.get(queue.push(act, data))
    hands.drain()
    assert job.result == argv


def test_nothing_returned_is_null(queue, act, hands):
    job = queue.get(queue.push(act, {"result": None}))
    hands.drain()
    assert (job.status, job.result) == ("complete", None)


def test_an_unknown_mount_fails_at_run_time(queue, probe, hands, tmp_path):
    script = {"mount": "/nowhere", "name": "x"}
    data = {"calls": file_of(tmp_path, "calls")}
    job = queue.get(queue.push(script, data, failure={"mount": probe, "name": "called"}))
    hands.drain()
    assert (job.status, job.runs) == ("failed", 1)
    assert len(job.failures) == 1
    assert calls(tmp_path) == [[None, job.id, "failed", 1]]


def test_an_error_with_a_status_code_is_a_failure_in_a_queue(queue, act, hands):
    job = queue.get(queue.push(act, {"odd": True}))
    hands.drain()
    assert (job.status, job.failures) == ("failed", ["Odd: a teapot"])


def test_failures_are_tried_again_up_to_the_limit(queue, act, hands, tmp_path, executions):
    data = {"file": file_of(tmp_path), "fail_first": 99}
    job = queue.get(queue.push(act, data, max_failures=3, back_off=0))
    hands.drain()
    assert (job.status, executions(), len(job.failures)) == ("failed", 4, 4)
    assert job.run_failures == 4


def test_a_recovered_run_counts_once(queue, act, hands, tmp_path, executions):
    data = {"file": file_of(tmp_path), "fail_first": 2}
    job = queue.get(queue.push(act, data, max_failures=2, back_off=0, repeat_times=1))
    hands.drain()
    assert (job.status, job.runs, executions(), job.run_failures) == ("complete", 2, 4, 0)


@pytest.mark.parametrize(("times", "expected"), [(0, 1), (1, 2), (2, 3)])
def test_repeats_follow_the_first_run(queue, act, hands, tmp_path, executions, times, expected):
    job = queue.get(queue.push(act, {"file": file_of(tmp_path)}, repeat_times=times))
    hands.drain()
    assert (job.status, job.runs, executions()) == ("complete", expected, expected)


def test_always_failing_repeats_end(queue, act, hands, tmp_path, executions):
    data = {"file": file_of(tmp_path), "fail_first": 99}
    options = {"max_failures": 1, "repeat_times": 2, "back_off": 0}
    job = queue.get(queue.push(act, data, **options))
    hands.drain()
    assert (job.status, job.runs, executions()) == ("failed", 3, 6)


def test_endless_failures_stay_pending(queue, act, hands, tmp_path, executions, pass_time):
    data = {"file": file_of(tmp_path), "fail_first": 99}
    job = queue.get(queue.push(act, data, max_failures=math.inf, back_off=10_000))
    for _ in range(5):
        hands.drain()
        pass_time()
    assert (job.status, executions()) == ("pending", 5)


def test_repeats_stop_after_the_limit(queue, act, hands, tmp_path, executions, pass_time):
    until = datetime.now(UTC) - timedelta(seconds=1)
    data = {"file": file_of(tmp_path)}
    job = queue.get(queue.push(act, data, repeat_times=math.inf, repeat_until=until))
    hands.drain()
    assert (job.status, executions()) == ("complete", 1)


def test_repeats_wait_their_delay(queue, act, hands, executions, tmp_path):
    data = {"file": file_of(tmp_path)}
    job = queue.get(queue.push(act, data, repeat_times=math.inf, repeat_delay=60_000))
    hands.drain()
    run = Run.objects.get(job_id=job.id)
    assert (job.status, executions()) == ("pending", 1)
    assert job.delay_until - run.started_at == timedelta(seconds=60)


def test_a_back_off_function_gets_the_earlier_failures(
    queue, act, hands, tmp_path, pass_time, declared_here
):
    data = {"file": file_of(tmp_path), "fail_first": 99}
    job = queue.get(queue.push(act, data, max_failures=2, back_off=back_off_of))
    waits = []
    for _ in range(2):
        hands.drain()
        run = Run.objects.filter(job_id=job.id).latest("attempt")
        waits.append((job.delay_until - run.ended_at) / timedelta(milliseconds=1))
        pass_time()
    assert waits == [10_000, 20_000]


@task
def back_off_of(failures):
    return 10_000 * (failures + 1)


@task
def raising_back_off(failures):
    raise KeyError("no idea")


def test_a_back_off_function_that_raises_is_reported(queue, act, hands, tmp_path, declared_here):
    data = {"file": file_of(tmp_path), "fail_first": 99}
    job = queue.get(queue.push(act, data, max_failures=1, back_off=raising_back_off))
    hands.drain()
    assert job.status == "pending"
    assert RunLog.objects.get(job_id=job.id).text == "back_off: KeyError('no idea')"


def test_callbacks_get_result_data_and_job(queue, probe, act, hands, tmp_path):
    called = {"mount": probe, "name": "called"}
    data = {"calls": file_of(tmp_path, "calls"), "file": file_of(tmp_path), "fail_at": [2]}
    job_id = queue.push({**act}, data, success=called, failure=called, repeat_times=2)
    hands.drain()
    statuses = [(call[1], call[2], call[3]) for call in calls(tmp_path)]
    assert statuses == [(job_id, "pending", 1), (job_id, "pending", 2), (job_id, "complete", 3)]
    assert [call[0] is None for call in calls(tmp_path)] == [False, True, False]


def test_a_failing_callback_changes_nothing_but_is_recorded(queue, probe, act, hands, tmp_path):
    data = {"calls": file_of(tmp_path, "calls"), "call_fails": True}
    job = queue.get(queue.push(act, data, success={"mount": probe, "name": "called"}))
    hands.drain()
    callback = QueuedJob.objects.get(parent=job.id)
    assert (job.status, callback.status) == ("complete", "failed")
    assert "the callback failed" in callback.error
    assert queue.all() == [job.id]


def test_jobs_start_by_priority_then_due_time_then_push(queue, act, hands, tmp_path):
    file = file_of(tmp_path)
    first, second = queue.push_many(act, [{"file": file}] * 2)
    urgent = queue.push(act, {"file": file}, priority=2)
    overdue = queue.push(act, {"file": file}, delay_until=datetime.now(UTC) - timedelta(hours=1))
    hands.drain()
    started = [line.split()[0] for line in (tmp_path / "ran").read_text().splitlines()]
    assert started == [urgent, overdue, first, second]


def test_a_child_that_dies_is_a_failure_with_its_signal(queue, act, hands):
    job = queue.get(queue.push(act, {"die": True}, max_failures=1, back_off=0))
    other = queue.get(queue.push(act))
    hands.drain()
    assert job.failures == ["the process was killed (signal 9, SIGKILL)"] * 2
    assert (job.status, other.status) == ("failed", "complete")


@pytest.mark.parametrize("stubborn", [False, True])
def test_a_time_out_cannot_be_swallowed(queue, probe, hands, tmp_path, stubborn):
    data = {"started": file_of(tmp_path, "s"), "go": file_of(tmp_path, "go"), "stubborn": stubborn}
    job = queue.get(queue.push({"mount": probe, "name": "wait"}, data, timeout=100))
    hands.drain()
    assert job.status == "failed"
    assert "timed out after 100ms" in job.failures[0]


def test_what_fails_because_of_a_time_out_is_one(queue, act, hands):
    """A time-out in the middle of a statement leaves a connection that cannot be rolled back."""
    queue.push(act)
    hands.drain()  # the process is ready for the next one
    job = queue.get(queue.push(act, {"clean_up": True}, timeout=300, max_failures=0))
    hands.drain()
    (failure,) = job.failures
    assert failure.removeprefix("TimedOut: ") == "timed out after 300ms"


def test_a_time_out_before_the_process_can_listen_is_one(queue, probe, hands, tmp_path):
    wait, data = {"mount": probe, "name": "wait"}, {"started": file_of(tmp_path, "s")}
    queue.push(wait, {**data, "go": str(tmp_path)})
    hands.drain()  # the process and the script are ready for the next one
    endless = {**data, "go": file_of(tmp_path, "go"), "deaf": True}
    job = queue.get(queue.push(wait, endless, timeout=1000))
    hands.drain()
    assert job.failures == ["timed out after 1s"]


@pytest.mark.parametrize(
    "script", ["nan", "huge", "circular", "object", "nul", "deep", "exits", "no_run"]
)
def test_a_result_that_cannot_be_stored_is_a_failure(queue, odd_service, hands, script, act):
    job = queue.get(queue.push({"mount": odd_service, "name": script}))
    other = queue.get(queue.push(act))
    hands.drain()
    assert (job.status, other.status) == ("failed", "complete")
    assert job.failures


ODD = {
    "nan": "return float('nan')",
    "huge": "return 'x' * 3_000_000",
    "circular": "a = []; a.append(a); return a",
    "object": "return object()",
    "nul": "return '\\x00'",
    "deep": "r = []; [r := [r] for _ in range(101)]; return r",
    "exits": "raise SystemExit(3)",
    "half_a_line": "print('one', end='')",
    "whole_line": "print('two')",
    "mute": "raise type('Mute', (Exception,), {'__str__': lambda self: 1 / 0})()",
}


@pytest.fixture
def odd_service(service_roots, probe, tmp_path, settings):
    from dataclasses import replace

    from queues.services import installation

    folder = tmp_path / "odd"
    folder.mkdir()
    for name, body in ODD.items():
        (folder / f"{name}.py").write_text(f"def run(context):\n    {body}\n")
    (folder / "no_run.py").write_text("x = 1\n")
    scripts = {name: f"{name}.py" for name in [*ODD, "no_run"]}
    manifest = {"name": "odd", "version": "1.0.0", "scripts": scripts}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    settings.ATRIBUTO = replace(settings.ATRIBUTO, service_roots=(str(tmp_path), *service_roots))
    return installation.install("odd", "/odd", setup=False).mount


def test_every_attempt_is_kept(queue, act, hands, tmp_path):
    data = {"file": file_of(tmp_path), "fail_first": 1, "say": ["one", "two"]}
    job_id = queue.push(act, data, max_failures=1, back_off=0)
    hands.drain()
    runs = list(Run.objects.filter(job_id=job_id))
    assert [(run.attempt, run.outcome, run.worker) for run in runs] == [
        (1, "failed", "hands"),
        (2, "complete", "hands"),
    ]
    assert "ValueError: told to fail" in runs[0].traceback
    assert list(RunLog.objects.values_list("attempt", "text")) == [
        (1, "one"),
        (1, "two"),
        (2, "one"),
        (2, "two"),
    ]


def test_a_line_without_its_end_belongs_to_its_own_job(queue, odd_service, hands, act):
    for script in ("half_a_line", "whole_line", "mute"):
        queue.push({"mount": odd_service, "name": script})
    hands.drain()
    first, second, third = queue.all()
    assert list(RunLog.objects.order_by("id").values_list("job_id", "text")) == [
        (int(first), "one"),
        (int(second), "two"),
    ]
    assert queue.get(third).failures == ["Mute"]


def test_a_level_that_nobody_knows_is_info():
    said = []
    Log(said.append)("the house is on fire", "catastrophe")
    assert said == [{"t": "log", "level": "info", "text": "the house is on fire"}]


def test_counters_are_written_with_the_outcomes(queue, act, hands, tmp_path, sweep):
    queue.push_many(act, [None] * 5)
    data = {"file": file_of(tmp_path), "fail_first": 9}
    queue.push(act, data, max_failures=1, back_off=0)
    hands.drain()
    sweep()
    rows = MinuteCount.objects.filter(queue__name="work")
    totals = {
        name: sum(getattr(row, name) for row in rows)
        for name in ("pushed", "started", "complete", "failed", "retried")
    }
    assert totals == {"pushed": 6, "started": 7, "complete": 5, "failed": 2, "retried": 1}
    assert sum(getattr(row, f"run_{place}") for row in rows for place in range(6)) == 7


def test_a_warm_child_sees_an_upgraded_script(queue, odd_service, hands, tmp_path):
    from queues.services import installation

    script = {"mount": odd_service, "name": "nan"}
    queue.push(script)
    hands.drain()
    (tmp_path / "odd" / "nan.py").write_text("def run(context):\n    return 'new code'\n")
    installation.upgrade("odd", odd_service)
    job = queue.get(queue.push(script))
    hands.drain()
    assert job.result == "new code"


def test_a_script_that_vanished_fails_clearly(queue, odd_service, hands, tmp_path):
    (tmp_path / "odd" / "object.py").unlink()
    job = queue.get(queue.push({"mount": odd_service, "name": "object"}))
    hands.drain()
    assert job.failures == ["ScriptNotFound: object.py is no file of the service"]


def test_many_short_jobs_are_all_recorded_once(queue, act, hands, tmp_path, executions):
    queues.create("work", 1)
    ids = queue.push_many(act, [{"file": file_of(tmp_path)}] * 300)
    hands.drain()
    assert executions() == 300
    assert sorted(queue.complete()) == sorted(ids)
    assert Run.objects.count() == 300


class Counting(Workhorse):
    """Notes how many characters of data it is given at once."""

    given: list[int] = []

    def give(self, jobs, *terms):
        self.given = [*self.given, sum(len(job["data"]) for job in jobs)]
        super().give(jobs, *terms)


def test_large_data_is_handed_over_in_small_parts(queue, act, hands):
    ids = queue.push_many(act, [{"result": 1, "rest": "x" * 400_000}] * 5)
    hands.close()
    hands.workhorse = Counting(512)
    pump = SlotRunner(acquire("work", 0, "hands"), hands.workhorse, "hands", *([lambda: False] * 2))
    pump.size = 5
    while pump.run():
        pass
    assert max(hands.workhorse.given) < LARGEST_MESSAGE
    assert queue.complete() == ids
