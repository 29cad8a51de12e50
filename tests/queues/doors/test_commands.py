"""The terminal door."""

import json
import re
from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

import queues
from queues.models import Queue, QueuedJob
from tests.factories.jobs import make_run

pytestmark = pytest.mark.usefixtures("probe", "scripts_see_this_database")


@pytest.fixture
def run(capsys):
    """run("push", …) → what the command printed."""

    def call(*arguments):
        call_command(*arguments)
        return capsys.readouterr().out

    return call


def test_push_and_jobs(run, queue):
    job_id = run("push", "work", "/probe", "act", "--data", "[1, 2]", "--priority", "1").strip()
    assert queue.get(job_id).data == [1, 2]
    assert job_id in run("queued_jobs", "list", "--queue", "work")
    run("queued_jobs", "abort", job_id)
    shown = json.loads(run("queued_jobs", "show", job_id, "--json"))
    assert (shown[0]["status"], shown[0]["priority"]) == ("failed", 1)
    run("queued_jobs", "retry", job_id)
    assert queue.pending() == [job_id]
    run("queued_jobs", "delete", job_id)
    assert queue.all() == []


def test_a_push_takes_moments_and_callbacks(run, queue):
    moments = ("--delay-until", "2030-01-31T12:00", "--repeat-until", "2031-01-31T12:00+01:00")
    callbacks = ("--success", "/probe/called", "--failure", "/probe/act")
    run("push", "work", "/probe", "act", *moments, *callbacks)
    job = QueuedJob.objects.get()
    assert job.due_at == datetime(2030, 1, 31, 12, tzinfo=UTC)
    assert job.repeat_until == datetime(2031, 1, 31, 11, tzinfo=UTC)
    assert job.success == {"mount": "/probe", "name": "called"}
    assert job.failure == {"mount": "/probe", "name": "act"}


def test_jobs_are_searched_as_on_their_page(run, queue):
    lost, found = (run("push", "work", "/probe", "act", "--data", data).strip() for data in "12")
    run("queued_jobs", "abort", found)
    listed = run("queued_jobs", "list", "--state", "aborted", "--query", "queue:work")
    assert found in listed and lost not in listed
    assert found not in run("queued_jobs", "list", "--state", "failed", "--query", "queue:work")


@pytest.mark.parametrize("of_queue", [(), ("--queue", "work")])
def test_the_newest_jobs_are_read_without_their_queues(run, queue, of_queue):
    """Together PostgreSQL might read and sort all jobs, for 8 s beside 400,000."""
    job_id = run("push", "work", "/probe", "act").strip()
    with CaptureQueriesContext(connection) as asked:
        assert job_id in run("queued_jobs", "list", *of_queue)
    [statement] = [each["sql"] for each in asked if 'FROM "queues_queuedjob"' in each["sql"]]
    assert "JOIN" not in statement


def test_what_was_done_to_a_job_is_said(run, queue):
    job_id = run("push", "work", "/probe", "act").strip()
    assert run("queued_jobs", "run-now", job_id) == f"{job_id} due now\n"
    assert run("queued_jobs", "abort", job_id, "--reason", "late") == f"{job_id} aborted\n"
    assert run("queued_jobs", "abort", job_id) == f"{job_id} had already finished\n"
    assert json.loads(run("queued_jobs", "abort", job_id, "--json")) == [
        {"id": job_id, "changed": False}
    ]
    assert run("queued_jobs", "retry", job_id) == f"{job_id} will run again\n"
    assert run("queued_jobs", "delete", job_id) == f"{job_id} deleted\n"


def test_nothing_is_done_when_one_of_the_jobs_does_not_exist(run, queue):
    job_id = run("push", "work", "/probe", "act").strip()
    with pytest.raises(SystemExit):
        run("queued_jobs", "abort", job_id, "1")
    assert queue.pending() == [job_id]


def test_a_job_that_refuses_does_not_stop_the_others(run, queue, act, capsys):
    plain, repeating = queue.push(act, delay=60_000), queue.push(act, repeat_times=1, delay=60_000)
    with pytest.raises(SystemExit) as ended:
        run("queued_jobs", "pause", plain, repeating)
    told = capsys.readouterr()
    assert (ended.value.code, told.out) == (1, f"{repeating} paused\n")
    assert f"job {plain} does not repeat" in told.err


def test_queue(run):
    run("queue", "create", "mail", "--max-workers", "3")
    run("queue", "pause", "mail")
    listed = {gauge["name"]: gauge for gauge in json.loads(run("queue", "list", "--json"))}
    assert (listed["mail"]["max_workers"], listed["mail"]["paused"]) == (3, True)
    run("queue", "create", "mail", "--retention-days", "7")
    assert Queue.objects.get(name="mail").retention_days == 7
    run("queue", "delete", "mail")
    assert "mail" not in run("queue", "list")


def test_every_queue_is_switched_by_one_command(run, queue):
    run("queue", "create", "mail")
    assert run("queue", "pause", "--all") == "3 queues paused\n"
    run("queue", "resume", "mail")
    resumed = json.loads(run("queue", "resume", "--all", "--json"))
    assert resumed == {"changed": 2, "queues": ["default", "work"]}


@pytest.mark.parametrize("words", [("pause",), ("pause", "mail", "--all")])
def test_a_switch_takes_a_name_or_all(run, words):
    with pytest.raises(CommandError):
        run("queue", *words)


def test_a_refused_setting_makes_no_queue(run):
    with pytest.raises(SystemExit):
        run("queue", "create", "mail", "--max-workers", "3", "--retention-days", "0")
    assert not Queue.objects.filter(name="mail").exists()


def test_service(run):
    run("service", "install", "multiplier", "/times")
    assert "/times" in run("service", "list")
    run("service", "development", "/times", "on")
    assert json.loads(run("service", "list", "--json"))[1]["development"] is True
    run("service", "uninstall", "/times")
    assert "/times" not in run("service", "list")


@pytest.mark.parametrize(
    ("words", "story"),
    [
        (("upgrade", "--teardown"), ["teardown", "setup"]),
        (("replace", "--no-teardown"), ["setup"]),
    ],
)
def test_lifecycle_scripts_run_as_told(run, scripts_start_quickly, tmp_path, words, story):
    told = tmp_path / "told"
    configuration = json.dumps({"file": str(told)})
    run("service", "install", "lifecycle", "/life", "--configuration", configuration)
    told.write_text("")
    change, *options = words
    run("service", change, "lifecycle", "/life", "--configuration", configuration, *options)
    assert [line.split()[0] for line in told.read_text().splitlines()] == story


def test_script(run):
    assert json.loads(run("script", "/probe", "act", "1", '"b"')) == [1, "b"]
    assert json.loads(run("script", "/probe", "act", "--data", '{"result": 5}')) == 5


@pytest.mark.parametrize(
    "arguments",
    [
        ("queue", "pause", "nowhere"),
        ("queue", "delete", "default"),
        ("queued_jobs", "abort", "1"),
        ("script", "/nowhere", "x"),
        ("push", "nowhere", "/probe", "act"),
        ("service", "install", "nowhere", "/x"),
        ("worker", "--instance", ""),
    ],
)
def test_a_refusal_is_exit_code_1(run, arguments):
    with pytest.raises(SystemExit) as ended:
        run(*arguments)
    assert ended.value.code == 1


def test_a_worker_has_a_name_that_can_be_stored(run):
    with pytest.raises(CommandError, match="at most 128 characters") as refused:
        run("worker", "--name", "x" * 129)
    assert refused.value.returncode == 2


def test_an_unknown_queue_is_named(run, capsys):
    with pytest.raises(SystemExit):
        run("push", "nowhere", "/probe", "act")
    assert "Queue does not exist: nowhere" in capsys.readouterr().err
    assert queues.get("default")


@pytest.mark.parametrize("command", ["operations list", "queued_jobs list"])
@pytest.mark.parametrize("limit", ["0", "-1", "99999999999999999999"])
def test_a_limit_that_no_list_can_have_is_wrong_usage(command, limit):
    with pytest.raises(CommandError, match="must be a whole number from 1 to 100000"):
        call_command(*command.split(), "--limit", limit)


def test_a_job_is_told_in_words(run, queue, act):
    job = QueuedJob.objects.get(pk=queue.push(act, {"n": 12345678901234567890, "to": "ada"}))
    job.error = "ValueError: no such person"
    job.save()
    make_run(job, error=job.error, traceback="Traceback\n  line 3", lines=["looked \x1b[2Jup"])
    said = run("queued_jobs", "show", str(job.pk))
    told = dict(line.split(maxsplit=1) for line in said.splitlines() if " " in line.strip())
    assert told["script"].strip() == "/probe/act"
    assert told["data"].strip() == '{"n": 12345678901234567890, "to": "ada"}'
    assert f"{job.pk}" in said and "result" not in told
    assert re.search(r"1 +failed +\S+ \S+ UTC +2\.000 +worker-1 +ValueError: no such person", said)
    assert "info looked \\u001b[2Jup" in said
    assert said.endswith("Traceback\n  line 3\n")


def test_the_last_ten_attempts_are_told(run, queue, act):
    job = QueuedJob.objects.get(pk=queue.push(act))
    for attempt in range(1, 13):
        make_run(job, attempt, error=f"error {attempt}.")
    said = run("queued_jobs", "show", str(job.pk))
    assert [n for n in range(1, 13) if f"error {n}." in said] == list(range(3, 13))


def test_a_job_without_attempts_is_told_too(run, queue, act):
    said = run("queued_jobs", "show", queue.push(act))
    assert "waiting" in said and "attempt" not in said


@pytest.mark.parametrize(
    ("typed", "stored"),
    [
        ("5000", 5000),
        ("1m30s", 90_000),
        ("foxx:5s", {"strategy": "foxx", "ms": 5000}),
        ("exponential:250", {"strategy": "exponential", "ms": 250}),
    ],
)
def test_a_push_takes_spans_and_a_strategy_of_back_off(run, queue, typed, stored):
    spans = ("--delay", "1h", "--repeat-delay", "1h30m", "--timeout", "500ms")
    run("push", "work", "/probe", "act", "--back-off", typed, "--repeat-times", "-1", *spans)
    job = QueuedJob.objects.get()
    assert (job.back_off, job.repeat_delay_ms, job.timeout_ms) == (stored, 5_400_000, 500)
    assert timedelta(minutes=59) < job.due_at - job.created_at <= timedelta(hours=1)


@pytest.mark.parametrize("typed", ["soon", "-5", "1.5h", "9" * 5000, "foxx:", "nope:5s"])
def test_a_span_that_is_none_pushes_nothing(run, queue, typed):
    with pytest.raises((CommandError, SystemExit)):
        run("push", "work", "/probe", "act", f"--back-off={typed}")
    assert not QueuedJob.objects.exists()
