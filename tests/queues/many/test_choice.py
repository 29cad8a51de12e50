"""Workers that serve some queues only, in their order; and how long they work."""

import os
import re
from contextlib import closing

import pytest
from django.core.management import CommandError, call_command

import queues
from atributo_site.core.models import Lease
from atributo_site.core.models.clock import database_now
from atributo_site.status.snapshot import snapshot
from queues.logic.queue_choice import parsed
from queues.management.commands.worker import Command
from queues.models import QueuedJob, Run
from queues.runs.doorbell import connection
from queues.worker.bell_watcher import BellWatcher
from queues.worker.plan import Allowance, WorkPlan
from queues.worker.presence import WorkerPresence
from queues.worker.worker import Worker
from tests.servers.process import ManagedProcess


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock_of():
    return Clock()


@pytest.fixture
def in_process(probe, redis_connection):
    """A worker in this process that may become 60 seconds old."""
    plan = WorkPlan(max_age_seconds=60)
    worker = Worker("here", WorkerPresence("here", {}), plan=plan)
    worker.allowance._begun = 0.0
    worker.presence.take()
    yield worker
    worker.lanes.close()


def order_of_runs():
    jobs = QueuedJob.objects.exclude(started_at=None).order_by("started_at")
    return list(jobs.values_list("queue__name", flat=True))


def ended(process):
    return process.wait(timeout=60) == 0


def watcher(*words, exclude=()):
    return BellWatcher(connection(2.0), "", lambda _: None, parsed(words, exclude))


def test_a_worker_serves_the_queues_that_it_is_told_to(probe, act, worker):
    for name in ("mail-eu", "mail-us", "other"):
        queues.create(name).push(act)
    assert ended(worker("a", "mail-*", "--exclude", "mail-us", "--burst"))
    assert order_of_runs() == ["mail-eu"]


def test_a_bell_of_another_queue_stays_for_others(probe, act, redis_connection):
    queues.create("other").push(act)
    queues.create("mail").push(act)
    mine = watcher("mail")
    assert [bell.queue for bell in iter(mine.take, None)] == ["mail"]
    assert watcher().take().queue == "other"


def test_queues_named_earlier_come_first(probe, act, redis_connection):
    for name in ("default", "low", "critical"):
        queues.create(name).push(act)
    order = [bell.queue for bell in iter(watcher("critical", "default", "*").take, None)]
    assert order == ["critical", "default", "low"]


def test_a_backlog_is_left_for_a_queue_named_earlier(probe, act, worker, wait_until, tmp_path):
    """Of the backlog at most one job starts between the push and the start of the other."""
    low, high = queues.create("low"), queues.create("high")
    low.push_many(act, [{"sleep": 0.05}] * 40)
    process = worker("a", "high", "low")
    wait_until(Run.objects.filter(job__queue__name="low").exists)
    pushed = database_now()
    job = high.get(high.push(act))
    wait_until(lambda: job.status == "complete")
    process.terminate()
    began = QueuedJob.objects.get(pk=job.id).started_at
    between = QueuedJob.objects.filter(queue__name="low", started_at__range=(pushed, began))
    assert between.count() <= 2


def test_weights_share_the_bells(probe, act, redis_connection):
    heavy, light = queues.create("heavy", max_workers=400), queues.create("light", max_workers=400)
    heavy.push_many(act, [None] * 300)
    light.push_many(act, [None] * 300)
    mine = watcher("heavy:9", "light:1")
    taken = [mine.take().queue for _ in range(200)]
    assert taken.count("heavy") > 2 * taken.count("light") > 0


def test_redis_is_asked_for_bells_only_after_one_rang(probe, act, redis_connection, monkeypatch):
    bells, looks = watcher("mail"), []
    heard = bells._heard
    monkeypatch.setattr(bells, "_heard", lambda shared: [looks.append(1), heard(shared)][1])
    bells._monotonic = lambda: 0.0
    bells.listen()
    assert [bells.take() for _ in range(5)] == [None] * 5
    assert len(looks) == 1
    queues.create("mail").push(act)
    assert bells.hear(10.0)
    assert bells.take().queue == "mail"
    assert [bells.take() for _ in range(5)] == [None] * 5
    assert len(looks) == 3


def test_a_worker_ends_after_so_many_jobs(queue, act, worker):
    queue.push_many(act, [None] * 30)
    assert ended(worker("a", "--max-jobs", "7"))
    assert QueuedJob.objects.filter(status="complete").count() == 7
    assert QueuedJob.objects.filter(status="pending", slot=None).count() == 23


def test_lanes_share_the_number_of_jobs(probe, act, worker):
    queues.create("wide", max_workers=8).push_many(act, [{"sleep": 0.01}] * 60)
    assert ended(worker("a", "--max-jobs", "20", "--concurrency", "3"))
    assert QueuedJob.objects.filter(status="complete").count() == 20


def test_a_worker_that_is_old_enough_grants_no_job(clock_of):
    allowance = Allowance(WorkPlan(max_age_seconds=60), monotonic=clock_of)
    assert allowance.granted("lane", 5) == 5
    clock_of.now += 60
    assert (allowance.granted("lane", 5), allowance.is_used_up) == (0, True)


def test_an_old_worker_finishes_its_job_and_takes_no_other(in_process, queue, act, monkeypatch):
    """The worker grows old while its first job runs."""
    queue.push_many(act, [{"sleep": 0.05}] * 3)
    monkeypatch.setattr(in_process.rq, "begin_job", lambda job: setattr(clock, "now", 100.0))
    clock = Clock()
    in_process.allowance._monotonic = clock
    in_process.round()
    assert in_process._is_done()
    assert QueuedJob.objects.filter(status="complete").count() == 1


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["--concurrency", "0"], "--concurrency is '0', not a number from 1 to 256"),
        (["--concurrency", "1_0"], "--concurrency is '1_0'"),
        (["--max-jobs", "many"], "--max-jobs is 'many'"),
        (["--max-age", "soon"], "--max-age is 'soon', not a duration"),
        (["mail:0"], "the weight of 'mail' is 0"),
        (["mail", "--exclude", "m*"], "the queue 'mail' is named and excluded"),
    ],
)
def test_what_a_worker_cannot_do_is_refused(arguments, said):
    with pytest.raises(CommandError, match=re.escape(said)) as refused:
        call_command("worker", *arguments)
    assert refused.value.returncode == 2


def test_wrong_words_are_told_before_the_database_is_asked(tmp_path):
    """Nothing is migrated there, which would be told otherwise, with another exit code."""
    empty = {"DATABASE_URL": f"sqlite:///{tmp_path}/empty.sqlite3"}
    for words in (["worker", "--max-jobs", "many"], ["run_curator", "--only", "nothing"]):
        with closing(ManagedProcess(words, {**os.environ, **empty})) as process:
            assert process.wait(timeout=60) == 2, process.output()
            assert words[-1] in process.output()


@pytest.mark.only_on("sqlite")
def test_a_name_without_a_queue_is_told(probe, capsys):
    queues.create("mail")
    choice = parsed(["mail", "mial", "a,b", "report-*"])
    Command()._tell_missing(WorkPlan(choice))
    said = capsys.readouterr().err
    assert "no queue is named 'mial' yet" in said
    assert "'a,b' yet; it is served once it exists; names are separated by spaces" in said
    assert "'mail'" not in said and "report" not in said


def test_a_queue_that_nobody_serves_needs_attention(probe, act):
    Lease.objects.acquire("worker/a", "h", 600, queues=["mail-*"])
    queues.create("other").push(act)
    QueuedJob.objects.update(due_at=database_now().replace(year=2020))
    [item] = [each for each in snapshot(database_now())["attention"] if "other" in each["title"]]
    assert item["title"] == "No worker serves queue other"
    assert "serve other queues: mail-*" in item["detail"]
    assert item["command"] == "manage.py worker other"
