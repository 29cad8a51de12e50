"""Batches and links over REST, by command and on pages."""

import json
from io import StringIO

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from atributo_site.console.jobs.drawing import drawing_of
from atributo_site.core.models.clock import database_now
from atributo_site.status.metrics import exposition
from atributo_site.status.snapshot import snapshot
from queues.jobs.handles import get_batch
from queues.models import Batch, QueuedJob
from queues.queries.batches import waiting_counts


@pytest.fixture
def rest(rest_as, queue):
    client = rest_as("operator")

    def ask(method, path, body=None):
        text = "" if body is None else json.dumps(body)
        answer = client.generic(method, f"/api/v1/{path}", text, "application/json")
        return answer.status_code, answer.json() if answer.content else None

    return ask


def run(*words):
    out = StringIO()
    call_command(*words, stdout=out)
    return out.getvalue()


def body(act, **more):
    jobs = [
        {"script": act, "data": 1, "label": "first"},
        {"script": act, "data": 2, "after": ["first"]},
    ]
    return {"queue": "work", "name": "two", "jobs": jobs, **more}


def test_a_whole_batch_is_pushed_over_rest(rest, act, called, crew):
    status, made = rest("POST", "batches", body(act, done=called))
    assert (status, len(made["jobs"])) == (201, 2)
    first, second = made["jobs"]
    _, seen = rest("GET", f"batches/{made['id']}")
    assert (seen["state"], seen["percent"], seen["jobs"]["blocked"]) == ("running", 0.0, 1)
    _, job = rest("GET", f"jobs/{second}")
    assert (job["state"], job["batch"]) == ("blocked", made["id"])
    assert job["waits_for"] == f"It waits for job {first}."
    _, links = rest("GET", f"jobs/{second}/links")
    assert [each["id"] for each in links["after"]] == [first]
    _, listed = rest("GET", f"jobs?batch={made['id']}")
    assert {each["id"] for each in listed["results"]} == {first, second}
    crew.drain()
    _, found = rest("GET", "batches?state=complete&queue=work")
    assert [each["id"] for each in found["results"]] == [made["id"]]
    assert found["results"][0]["callback"] is not None


def test_an_open_batch_is_filled_and_closed_over_rest(rest, act, crew):
    _, made = rest("POST", "batches", {"queue": "work"})
    status, first = rest("POST", "queues/work/jobs", {"script": act, "batch": made["id"]})
    assert status == 201
    many = {"script": act, "data": [1, 2], "batch": made["id"], "after": [first["id"]]}
    assert rest("POST", "queues/work/jobs/batch", many)[0] == 201
    assert rest("POST", f"batches/{made['id']}/close")[1]["state"] == "running"
    status, refused = rest("POST", "queues/work/jobs", {"script": act, "batch": made["id"]})
    assert (status, refused["code"]) == (409, "batch_is_closed")
    crew.drain(failing=[first["id"]])
    assert rest("POST", f"batches/{made['id']}/retry")[1] == {"changed": 3, "refused": {}}
    assert rest("POST", f"batches/{made['id']}/abort", {})[1]["changed"] == 3
    assert get_batch(made["id"]).state == "failed"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"queue": "nowhere"}, "Queue does not exist: nowhere"),
        ({"done": {"mount": "x", "name": "y"}}, "done"),
        ({"jobs": [{"script": {"mount": "/p", "name": "a"}, "after": ["b"]}]}, "'b'"),
        ({"jobs": [{"script": {"mount": "/p", "name": "a"}, "batch": "1"}]}, "batch"),
        ({"surprise": 1}, "surprise"),
    ],
)
def test_bad_batches_are_refused_over_rest(rest, act, change, said):
    status, answer = rest("POST", "batches", body(act, **change))
    assert status in (400, 404)
    assert said in json.dumps(answer)
    assert not Batch.objects.exists()
    assert not QueuedJob.objects.exists()


def test_a_circle_is_refused_over_rest(rest, act):
    jobs = [{"script": act, "label": a, "after": [b]} for a, b in ("ab", "ba")]
    status, answer = rest("POST", "batches", {"queue": "work", "jobs": jobs})
    assert (status, answer["code"]) == (400, "bad_batch")
    assert "a after b after a" in answer["detail"]


def test_unknown_batches_are_not_found(rest):
    for path in ("batches/77", "batches/x"):
        assert rest("GET", path)[0] == 404
    assert rest("POST", "batches/77/close")[0] == 404


def test_the_command_does_the_same(act, crew, tmp_path):
    path = tmp_path / "batch.json"
    path.write_text(json.dumps(body(act)))
    batch_id = run("batches", "push", str(path)).strip()
    assert "running" in run("batches", "list")
    shown = json.loads(run("batches", "show", batch_id, "--json"))
    assert shown["jobs"]["total"] == 2
    assert run("batches", "abort", batch_id).startswith("2 jobs")
    assert run("batches", "retry", batch_id).startswith("2 jobs")
    crew.drain()
    assert get_batch(batch_id).state == "complete"


def test_the_command_opens_fills_and_closes(act, crew, tmp_path):
    batch_id = run("batches", "open", "work", "--name", "mine").strip()
    first = run("push", "work", act["mount"], "act", "--batch", batch_id).strip()
    words = ("--after", first, "--even-if-failed", "--batch", batch_id)
    run("push", "work", act["mount"], "act", *words)
    assert "is closed" in run("batches", "close", batch_id)
    assert "was closed before" in run("batches", "close", batch_id)
    crew.drain(failing=[first])
    assert get_batch(batch_id).counts["complete"] == 1
    (tmp_path / "no.json").write_text("{")
    with pytest.raises(CommandError, match="cannot be read"):
        run("batches", "push", str(tmp_path / "no.json"))


def test_pages_show_progress_and_what_waits_for_what(queue, act, crew, client_as):
    browser = client_as("operator")
    with queue.batch("nightly") as block:
        second = block.push(act, after=["first"])
        first = block.push(act, label="first")
    page = browser.get(f"/batches/{block.id}/").text
    assert "nightly" in page
    assert "Abort the rest" in page
    assert f"/jobs/{first}/" in page
    page = browser.get(f"/jobs/{second}/").text
    assert "What waits for what" in page
    assert f"It waits for job {first}." in page
    assert "9000-01-01" not in page
    assert "nightly" in browser.get("/batches/").text
    assert "No batches match" in browser.get("/batches/?state=failed").text
    assert "aborted" in browser.get(f"/batches/{block.id}/abort").text
    browser.post(f"/batches/{block.id}/abort", {"reason": "wrong"})
    assert get_batch(block.id).state == "failed"
    browser.post(f"/batches/{block.id}/retry")
    crew.drain()
    assert get_batch(block.id).state == "complete"


def test_a_drawing_has_each_job_before_those_that_wait_for_it(queue, act):
    with queue.batch() as block:
        first = block.push(act, label="first")
        second = block.push(act, label="second", after=["first"])
        last = block.push(act, label="last", after=["first", "second"])
        block.push(act, after=["first", "last"])
    for pk in (first, last):
        nodes = drawing_of(QueuedJob.objects.get(pk=pk), database_now()).nodes
        assert [str(node.id) for node in nodes][:3] == [first, second, last]
        assert len({node.x for node in nodes}) == 4
    drawing = drawing_of(QueuedJob.objects.get(pk=last), database_now())
    assert len({line["path"] for line in drawing.lines}) == len(drawing.lines) == 4


def test_an_open_batch_is_closed_by_its_button(queue, client_as):
    batch = queue.open_batch()
    client_as("operator").post(f"/batches/{batch.id}/close")
    assert batch.state == "complete"


def test_metrics_count_what_waits(queue, act):
    queue.open_batch()
    queue.push(act, after=[queue.push(act)])
    counts = {"batches_open": 1, "batches_running": 0, "jobs_blocked": 1}
    assert waiting_counts() == counts
    lines = exposition(snapshot(database_now()), counts).decode().splitlines()
    assert "atributo_jobs_blocked 1.0" in lines
