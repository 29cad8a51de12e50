"""The screens of queues, jobs and services."""

import pytest

from queues import installation

MAILER = "/services/%1Fprobe"
pytestmark = pytest.mark.usefixtures("probe", "scripts_see_this_database")


@pytest.fixture
def operator(client_as):
    return client_as("operator")


@pytest.fixture
def admin(client_as):
    return client_as("admin")


def text(answer):
    return answer.content.decode()


def test_queues_show_what_runs_and_waits(operator, queue, act):
    queue.push_many(act, [None] * 3)
    page = text(operator.get("/queues/"))
    assert "work" in page
    assert "0 of 1" in page
    assert "No worker is running" in page


def test_a_queue_is_paused_scaled_and_deleted(admin, queue):
    admin.post("/queues/work/pause")
    assert "Paused by admin" in text(admin.get("/queues/work/"))
    admin.post("/queues/work/resume")
    admin.post("/queues/work/scale", {"max_workers": "7"})
    assert queue.max_workers == 7
    admin.post("/queues/work/delete")
    assert admin.get("/queues/work/").status_code == 404


def test_jobs_are_found_by_state_script_error_and_data(operator, queue, act, hands):
    failing = queue.push({"mount": "/nowhere", "name": "x"}, {"colour": "mauve"})
    good = queue.push(act)
    hands.drain()
    for query in ("status=failed", "mount=/nowhere", "error=no+service", "data=mauve"):
        page = text(operator.get(f"/jobs/?{query}"))
        assert failing in page, query
        assert good not in page, query


def test_a_job_page_tells_its_story(operator, queue, act, hands, tmp_path):
    data = {"file": str(tmp_path / "ran"), "fail_first": 1, "say": ["<b>hello</b>"]}
    job_id = queue.push(act, data, max_failures=1, back_off=0)
    hands.drain()
    page = text(operator.get(f"/jobs/{job_id}/"))
    for words in ("Attempt 1", "Attempt 2", "told to fail", "Traceback", "&lt;b&gt;hello"):
        assert words in page
    assert "<b>hello</b>" not in page


def test_failures_are_grouped_and_retried_with_a_count(operator, queue, hands):
    for number in range(3):
        queue.push({"mount": "/nowhere", "name": f"x{number}"})
    hands.drain()
    assert "Retry this group" in text(operator.get("/jobs/failures/"))
    question = text(operator.post("/jobs/bulk", {"do": "retry", "status": "failed"}))
    assert "Retry 3 jobs" in question
    operator.post("/jobs/bulk", {"do": "retry", "status": "failed", "count": "3"})
    assert len(queue.pending()) == 3


def test_an_empty_filter_is_refused(operator, queue, act):
    queue.push(act)
    assert operator.post("/jobs/bulk", {"do": "delete", "count": "1"}).status_code == 400
    assert len(queue.all()) == 1


def test_buttons_abort_retry_and_push_again(operator, queue, act):
    job = queue.get(queue.push(act, {"a": 1}))
    operator.post(f"/jobs/{job.id}/abort")
    assert job.status == "failed"
    operator.post(f"/jobs/{job.id}/retry")
    assert job.status == "pending"
    operator.post(f"/jobs/{job.id}/push", {"data": '{"a": 2}', "queue": "work"})
    assert [queue.get(each).data for each in queue.all()] == [{"a": 1}, {"a": 2}]


def test_a_viewer_sees_and_does_not_touch(client_as, queue, act):
    viewer = client_as("viewer")
    job = queue.get(queue.push(act))
    assert viewer.get(f"/jobs/{job.id}/").status_code == 200
    assert viewer.post(f"/jobs/{job.id}/abort").status_code == 403
    assert viewer.post("/queues/work/pause").status_code == 403
    assert job.status == "pending"


def test_a_script_runs_from_its_form(operator):
    page = text(operator.get(f"{MAILER}/checked"))
    assert 'type="password" name="pin"' in page
    assert 'name="n"' in page
    ran = text(operator.post(f"{MAILER}/checked", {"n": "5", "pin": "", "queue": ""}))
    assert "&quot;n&quot;: 5" in ran


def test_a_form_that_does_not_fit_says_why(operator):
    answer = operator.post(f"{MAILER}/checked", {"n": "x", "queue": ""})
    assert answer.status_code == 400
    assert "is not JSON" in text(answer)


def test_a_form_pushes_a_job(operator, queue):
    operator.post(f"{MAILER}/checked", {"n": "5", "queue": "work"})
    assert queue.get(queue.all()[0]).data == {"n": 5}


def test_services_are_installed_and_removed(admin):
    assert "probe" in text(admin.get("/services/"))
    admin.post("/services/", {"folder": "multiplier", "mount": "/times"})
    assert installation.found("/times").name == "multiplier"
    admin.post("/services/%1Ftimes/uninstall")
    assert admin.get("/services/%1Ftimes/").status_code == 400


@pytest.mark.parametrize(
    "url", ["/queues/", "/jobs/", "/jobs/failures/", "/services/", MAILER + "/"]
)
def test_screens_need_a_log_in(client_as, url):
    assert client_as(None).get(url).status_code == 302
