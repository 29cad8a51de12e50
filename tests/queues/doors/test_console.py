"""The screens of queues, jobs and services, with jobs and scripts that really run."""

import json

import pytest

from atributo_site.core.models import Event
from atributo_site.core.models.clock import from_now
from atributo_site.curator.repairs import remove_old_answers
from atributo_site.models import IdempotencyKey

FIVE = '<span class="key">n: </span><span class="plain">5</span>'
PROBE = "/services/probe/-/scripts/checked/"
pytestmark = pytest.mark.usefixtures("probe", "scripts_start_quickly")


@pytest.fixture
def operator(client_as):
    return client_as("operator")


def test_a_deleted_queue_is_gone_and_its_jobs_wait(client_as, queue, act):
    queue.push(act)
    admin = client_as("admin")
    assert "They wait until a queue with this name" in admin.get("/queues/work/delete").text
    admin.post("/queues/work/delete")
    assert admin.get("/queues/work/").status_code == 404
    assert len(queue.pending()) == 1


def test_jobs_are_found_by_state_script_error_and_data(operator, queue, act, hands):
    failing = queue.push({"mount": "/nowhere", "name": "x"}, {"colour": "mauve"})
    good = queue.push(act)
    hands.drain()
    for query in ("state=failed", "q=script:/nowhere/x", "q=error:service", "q=data:mauve"):
        page = operator.get(f"/jobs/?{query}").text
        assert failing in page, query
        assert good not in page, query


def test_a_job_page_tells_its_story(operator, queue, act, hands, tmp_path):
    data = {"file": str(tmp_path / "ran"), "fail_first": 1, "say": ["<b>hello</b>"]}
    job_id = queue.push(act, data, max_failures=1, back_off=0)
    hands.drain()
    page = operator.get(f"/jobs/{job_id}/").text
    for words in ("Attempt 1", "Attempt 2", "told to fail", "Traceback", "&lt;b&gt;hello"):
        assert words in page
    assert "<b>hello</b>" not in page


def test_a_failed_group_runs_again(operator, queue, hands):
    for number in range(3):
        queue.push({"mount": "/nowhere", "name": f"x{number}"})
    hands.drain()
    assert "Retry this group" in operator.get("/jobs/failures/").text
    given = {"action": "retry", "state": "failed", "scope": "all", "q": "queue:work"}
    assert "Retry 3 jobs" in operator.get("/jobs/bulk/", given).text
    operator.post("/jobs/bulk/", {**given, "sure": "yes"})
    assert len(queue.pending()) == 3
    hands.drain()
    assert len(queue.failed()) == 3


def test_a_script_runs_from_its_form(operator):
    page = operator.get(PROBE).text
    assert 'name="data-pin" type="password"' in page
    ran = operator.post(PROBE, {"data-n": "5", "data-pin": ""}, follow=True).text
    assert FIVE in ran


def test_what_came_of_a_run_can_be_reloaded_and_shared(operator, client_as):
    address = operator.post(PROBE, {"data-n": "5"}).headers["Location"]
    pages = [operator.get(address).text, client_as("viewer").get(address).text]
    assert all(FIVE in page for page in pages)
    assert 'value="5"' in pages[0]
    assert Event.objects.filter(kind="script.ran").count() == 1


def test_what_came_of_a_run_shows_no_secret(operator):
    page = operator.post(PROBE, {"data-n": "5", "data-pin": "canary-7"}, follow=True).text
    assert "•••" in page
    assert "canary-7" not in page + IdempotencyKey.objects.get().body
    assert 'name="data-pin" type="password" value=""' in page


def test_what_came_of_a_run_is_kept_for_a_day_and_at_its_script(operator):
    address = operator.post(PROBE, {"data-n": "5"}).headers["Location"]
    word = address.partition("?ran=")[2]
    IdempotencyKey.objects.update(created_at=from_now(-86_500))
    remove_old_answers(10)
    other = "/services/probe/-/scripts/act/"
    for gone in (address, f"{PROBE}?ran=made-up", f"{other}?ran={word}"):
        answer = operator.get(gone)
        assert answer.headers["Location"] == gone.partition("?")[0]
        assert "no longer available" in operator.get(answer.headers["Location"]).text


def test_a_result_that_is_too_large_is_not_kept(operator):
    given = json.dumps({"result": "x" * 300_000, "say": ["said"]})
    page = operator.post("/services/probe/-/scripts/act/", {"data": given}, follow=True).text
    assert "too large to store" in page and "said" in page
    assert len(IdempotencyKey.objects.get().body) < 1000


def test_a_script_that_fails_shows_why(operator):
    given = {"data": '{"odd": true}'}
    page = operator.post("/services/probe/-/scripts/act/", given, follow=True).text
    assert "status 418" in page
    assert "Traceback" in page


def test_a_form_that_does_not_fit_says_why(operator):
    answer = operator.post(PROBE, {"data-n": "x"})
    assert answer.status_code == 400
    assert "must be" in answer.text


def test_a_form_pushes_a_job(operator, queue):
    operator.post(f"{PROBE}push", {"data-n": "5", "queue": "work"})
    assert queue.get(queue.all()[0]).data["n"] == 5
