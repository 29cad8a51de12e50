"""What a run says about its secrets: log lines, errors, tracebacks, results, callbacks."""

import json

import pytest

from queues.errors import ScriptFailed
from queues.models import Catalogue, QueuedJob, Run, RunLog, Script, Service
from queues.tasks import task
from queues.worker.run_now import run_candidate, run_script
from tests.queues.conftest import ROOT

ADDRESS = "postgresql://site:canary-url@db/site"


@task
def complain(result, data, job):
    """A callback that is a function."""
    raise ValueError(f"cannot mail {data['api-key']} {data['pin']} to {ADDRESS}")


def everything_kept():
    """Of all runs: errors, tracebacks, lines."""
    texts = [*Run.objects.values_list("error", "traceback", "note")]
    return json.dumps([texts, [*RunLog.objects.values_list("text", flat=True)]])


def test_a_password_by_its_type_is_scrubbed_whatever_it_is_called(queue, hands, probe, act):
    option = {"smtp": {"type": "password", "default": "canary-default"}}
    Service.objects.filter(mount=probe).update(definitions=option)
    Catalogue.objects.changed()
    queue.push(act, {"say": ["using canary-default"], "fail_at": [0], "why": "canary-default"})
    hands.drain()
    assert RunLog.objects.get().text == "using •••"
    assert "canary" not in everything_kept()


def test_a_callback_does_not_tell_the_secrets_of_its_job(
    queue, hands, probe, rest_as, client_as, declared_here
):
    checked = {"mount": probe, "name": "checked"}
    data = {"n": 1, "pin": "canary-pin", "api-key": "canary-key", "url": ADDRESS, "odd": True}
    queue.push(checked, data, failure=complain)
    hands.drain()
    job = QueuedJob.objects.exclude(parent=None).get()
    assert (job.status, job.error) == (
        "failed",
        "ValueError: cannot mail ••• ••• to postgresql://site:•••@db/site",
    )
    shown = rest_as("viewer").get(f"/api/v1/jobs/{job.pk}").text
    page = client_as("viewer").get(f"/jobs/{job.pk}/").text
    assert "canary" not in shown + page + everything_kept()


def test_a_setup_that_fails_tells_no_password(service_roots, scripts_start_quickly, db):
    service = Service(
        mount="/life",
        folder=str(ROOT / "lifecycle"),
        definitions={"file": {"type": "password"}},
        configuration={"file": "/nonexistent/canary"},
    )
    with pytest.raises(ScriptFailed, match="No such file or directory: '•••'") as failure:
        run_candidate(service, [Script(name="setup", path="setup.py")], "setup")
    assert "canary" not in failure.value.facts["traceback"]


@pytest.mark.parametrize("key", ["x-api-key", "pwd", "accessKeyId", "connection_string"])
def test_names_that_look_secret_are_scrubbed_from_what_is_said(
    key, probe, scripts_start_quickly, act
):
    ran = run_script(probe, "act", {key: "canary-7", "say": ["it is canary-7", ADDRESS]})
    assert [line["text"] for line in ran.lines] == ["it is •••", "postgresql://site:•••@db/site"]
