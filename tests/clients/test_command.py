"""`python -m atributo_client` for operators: JSON on success, one line and exit code 1 if not."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from atributo_client import Client, Message
from atributo_client.__main__ import main
from queues import schedules
from tests.factories.jobs import make_job, make_queue, make_script

PACKAGE = Path(__file__).parents[2] / "clients" / "python"


@pytest.fixture
def command(web, token_of, capsys):
    """command("queues", "list") → exit code, what was printed as JSON, the error."""
    where = ["--url", web(), "--token", token_of("admin"), "--timeout", "60"]

    def run(*words):
        code = main([*where, *words])
        said = capsys.readouterr()
        return code, json.loads(said.out) if said.out else None, said.err

    return run


def test_allocate_and_deallocate(command):
    assert command("instances", "available", "a")[1]["available"]
    _, placed, _ = command("allocate", "x", "y")
    assert [each["instance_id"] for each in placed] == ["a", "a"]
    assert command("deallocate", "x", "z") == (0, {"deallocated": 1}, "")


def test_instances(command):
    command("instances", "available", "a")
    assert command("instances", "drain", "a", "--reason", "old")[1]["reason"] == "old"
    assert [each["id"] for each in command("instances")[1]] == ["a"]
    assert command("instances", "remove", "a") == (0, None, "")


def test_push_and_jobs(command):
    make_script()
    command("queues", "create", "mail")
    words = ["push", "mail", "/mailer", "send-mail", "--data", '{"to": "a"}', "--key", "k"]
    job_id = command(*words, "--options", '{"priority": 2}')[1]["id"]
    assert command(*words, "--options", '{"priority": 2}')[1]["id"] == job_id
    assert command("jobs", "get", job_id)[1]["priority"] == 2
    assert [each["id"] for each in command("jobs", "--queue", "mail")[1]] == [job_id]
    assert command("jobs", "abort", job_id)[1]["status"] == "failed"
    assert "mail" in [each["name"] for each in command("queues")[1]]


def test_a_reason_is_kept_where_there_is_one(command):
    job_id = str(make_job(make_queue(), repeat_times=-1).pk)
    assert command("jobs", "pause", job_id, "--reason", "audit")[1]["pause_reason"] == "audit"
    assert command("jobs", "resume", job_id)[0] == 0
    refused = command("jobs", "retry", job_id, "--reason", "x")
    assert refused == (1, None, "atributo_client: retry takes no --reason\n")


def test_schedules(command):
    make_script(name="tick", schema=None), make_queue("ticks")
    rule = {"calendar": {"times": ["03:00"]}}
    script = {"mount": "/mailer", "name": "tick"}
    schedules.create("nightly", script=script, queue="ticks", rule=rule)
    assert [each["name"] for each in command("schedules")[1]] == ["nightly"]
    paused = command("schedules", "pause", "nightly", "--reason", "move")[1]
    assert paused["pause_reason"] == "move"
    assert command("schedules", "resume", "nightly")[1]["pause_reason"] == ""
    assert command("schedules", "run-now", "nightly")[1]["job_id"]
    assert command("schedules", "delete", "nightly") == (0, None, "")
    assert command("schedules", "get", "nightly")[2].startswith("atributo_client: schedule_not_")


def test_options_have_no_names_of_other_words(capsys):
    where = ["--url", "http://localhost", "--token", "t"]
    assert main([*where, "push", "q", "/m", "s", "--options", '{"queue": 1}'], "atributo") == 1
    assert capsys.readouterr().err == "atributo: --options takes no queue\n"


@pytest.mark.parametrize("seconds", ["-1", "nan", "inf", "soon", "1e9"])
def test_seconds_are_a_number_of_seconds(seconds, capsys):
    with pytest.raises(SystemExit):
        main(["--url", "http://localhost", "--token", "t", "--timeout", seconds, "me"])
    assert "must be seconds from 0 to 86400" in capsys.readouterr().err


def test_a_wrong_token_and_a_wrong_address_are_told(web, capsys):
    assert main(["--url", web(), "--token", "wrong", "--timeout", "60", "me"]) == 1
    assert "authentication_failed: " in capsys.readouterr().err
    assert main(["--url", f"{web()}/docs", "--token", "wrong", "--timeout", "60", "me"]) == 1
    assert "check the address" in capsys.readouterr().err


def test_a_push_that_waits_too_long(command):
    make_script(), make_queue()
    words = ["push", "mail", "/mailer", "send-mail", "--data", '{"to": "a"}', "--wait", "0"]
    code, _, said = command(*words)
    assert code == 1 and said.startswith("atributo_client: not_yet: job ")


def test_a_refusal_is_one_line(command):
    code, printed, said = command("queues", "get", "nowhere")
    assert (code, printed) == (1, None)
    assert said.startswith("atributo_client: queue_not_found: ") and said.count("\n") == 1


def test_a_missing_name_is_said(command):
    assert command("jobs", "abort")[2] == "atributo_client: this needs the name of a job id\n"


@pytest.mark.parametrize("words", [["fly"], ["push", "q", "/m", "s", "--data", "{"], []])
def test_wrong_words_show_the_usage(words, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--url", "http://localhost", "--token", "t", *words])
    assert ended.value.code == 2
    assert "usage:" in capsys.readouterr().err


def test_it_runs_as_a_module_without_django(free_port):
    environ = {"PATH": os.environ["PATH"], "PYTHONPATH": str(PACKAGE)}
    environ |= {"ATRIBUTO_URL": f"http://127.0.0.1:{free_port}", "ATRIBUTO_TOKEN": "t"}
    words = [sys.executable, "-m", "atributo_client", "--patience", "0", "me"]
    ended = subprocess.run(words, env=environ, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 1
    assert ended.stderr.startswith("atributo_client: unreachable: http://127.0.0.1:")


def test_the_site_must_be_named(monkeypatch, capsys):
    monkeypatch.delenv("ATRIBUTO_URL", raising=False)
    assert main(["me"]) == 1
    assert "--url and --token" in capsys.readouterr().err


def test_a_failed_job_is_listed(command):
    make_job(make_queue(), "failed", error="Boom")
    assert [each["error"] for each in command("jobs", "--state", "failed")[1]] == ["Boom"]


def test_events_are_a_line_each(monkeypatch, capsys):
    came = [Message("event", {"id": n, "subject": "a:1"}, str(n)) for n in (1, 2)]
    monkeypatch.setattr(Client, "events", lambda self, *topics: iter(came))
    assert main(["--url", "http://localhost", "--token", "t", "events", "a"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["data"]["id"] for line in lines] == [1, 2]
