"""A job has one word for its state on screens and raw lists, in REST, the terminal and Python."""

import json
import re
from datetime import timedelta

import pytest
from django.core.management import call_command

import queues
from atributo_site.core.models.clock import database_now
from atributo_site.manual.pages import page
from queues.queries.states import STATES, WORDS
from tests.factories.jobs import blocked_job, make_job, make_queue, paused_job

pytestmark = pytest.mark.django_db
CELL = re.compile(r"<td[^>]*field-state[^>]*>(\w+)</td>")


@pytest.fixture
def jobs():
    """Make a job in each state."""
    queue, later = make_queue(), database_now() + timedelta(days=1)
    return {
        "waiting": make_job(queue),
        "delayed": make_job(queue, due_at=later),
        "retrying": make_job(queue, due_at=later, run_failures=1),
        "paused": paused_job(queue),
        "blocked": blocked_job(queue),
        "running": make_job(queue, "progress"),
        "complete": make_job(queue, "complete"),
        "failed": make_job(queue, "failed", error="no"),
        "aborted": make_job(queue, "failed", error="Job aborted.", aborted_at=database_now()),
        "expired": make_job(queue, "failed", error="Job expired.", expired_at=database_now()),
    }


def test_there_are_no_others(jobs):
    assert set(jobs) == set(WORDS)


def test_rest_the_terminal_python_and_raw_lists_say_the_same(jobs, rest_as, client_as, capsys):
    wanted = {str(job.pk): state for state, job in jobs.items()}
    listed = rest_as("viewer").get("/api/v1/jobs").json()["results"]
    assert {each["id"]: each["state"] for each in listed} == wanted
    call_command("queued_jobs", "list", "--json")
    printed = json.loads(capsys.readouterr().out)
    assert {each["id"]: each["state"] for each in printed} == wanted
    queue = queues.get("mail")
    assert {job_id: queue.get(job_id).state for job_id in wanted} == wanted
    rows = client_as("viewer").get("/admin/queues/queuedjob/").text
    shown = {job: CELL.search(row)[1] for row in rows.split("<tr")[1:]
             for job in wanted if f">{job}<" in row and CELL.search(row)}  # fmt: skip
    assert shown == wanted


@pytest.mark.parametrize("state", STATES)
def test_screens_and_raw_lists_filter_by_the_same_words(state, jobs, client_as):
    wanted = {str(jobs[state].pk)} | ({str(jobs["retrying"].pk)} if state == "delayed" else set())
    client = client_as("viewer")
    raw = client.get(f"/admin/queues/queuedjob/?state={state}").text
    screen = client.get(f"/jobs/?state={state}").text
    every = {str(job.pk) for job in jobs.values()}
    assert {job for job in every if f">{job}<" in raw} == wanted
    assert {job for job in every if f'/jobs/{job}/"' in screen} == wanted


def test_the_terminal_shows_the_word_to_people(jobs, capsys):
    call_command("queued_jobs", "show", str(jobs["retrying"].pk))
    assert re.search(r"^state +retrying *$", capsys.readouterr().out, re.MULTILINE)


def test_the_docs_list_them_all():
    table = page("concepts").text.partition("| a job is |")[2].partition("\n\n")[0]
    assert set(re.findall(r"^\| (\w+) \|", table, re.MULTILINE)) == set(WORDS)
