"""The REST door of queues, jobs, services and scripts."""

import pytest

from atributo_site.core.models import Event
from queues.services import installation

JSON = "application/json"
pytestmark = pytest.mark.usefixtures("probe", "scripts_start_quickly")


@pytest.fixture
def admin(rest_as):
    return rest_as("admin")


@pytest.fixture
def operator(rest_as):
    return rest_as("operator")


def bare(client, method, url):
    """A request without a body."""
    return client.generic(method.upper(), url)


def script_url(name, mount="/probe"):
    return f"/api/v1/services/scripts/{name}?mount={mount}"


def test_a_job_is_pushed_and_read(operator, queue, hands):
    body = {"script": {"mount": "/probe", "name": "act"}, "data": {"result": 5}, "priority": 1}
    pushed = operator.post("/api/v1/queues/work/jobs", body, JSON)
    assert pushed.status_code == 201
    hands.drain()
    job = operator.get(f"/api/v1/jobs/{pushed.json()['id']}").json()
    assert (job["status"], job["result"], job["run"], job["priority"]) == (
        "complete",
        5,
        "1 of 1",
        1,
    )
    attempts = operator.get(f"/api/v1/jobs/{job['id']}/attempts").json()
    assert [attempt["outcome"] for attempt in attempts] == ["complete"]


def test_many_are_pushed_at_once(operator, queue):
    body = {"script": {"mount": "/probe", "name": "act"}, "data": [1, [2], None]}
    answer = operator.post("/api/v1/queues/work/jobs/batch", body, JSON)
    assert answer.json()["ids"] == queue.all()


def test_lists_are_filtered(operator, queue, act):
    first = queue.push(act)
    queue.get(queue.push(act)).abort()
    found = operator.get("/api/v1/jobs?status=pending&queue=work&script=act").json()
    assert [job["id"] for job in found["results"]] == [first]
    assert len(operator.get("/api/v1/queues/work/jobs").json()["results"]) == 2


def test_abort_and_retry(operator, queue, act):
    job_id = queue.push(act)
    assert bare(operator, "post", f"/api/v1/jobs/{job_id}/abort").json()["status"] == "failed"
    assert bare(operator, "post", f"/api/v1/jobs/{job_id}/retry").json()["status"] == "pending"
    assert operator.delete(f"/api/v1/jobs/{job_id}").status_code == 204
    assert operator.get(f"/api/v1/jobs/{job_id}").status_code == 404


def test_the_reason_of_an_abort_is_on_the_timeline(operator, queue, act):
    job_id = queue.push(act)
    operator.post(f"/api/v1/jobs/{job_id}/abort", {"reason": "late"}, "application/json")
    assert Event.objects.get(kind="job.aborted").facts["reason"] == "late"


@pytest.mark.parametrize("action", ["abort", "retry", "run", "attempts"])
def test_an_unknown_job_is_not_found(operator, action):
    method = "get" if action == "attempts" else "post"
    assert bare(operator, method, f"/api/v1/jobs/123/{action}").status_code == 404
    assert bare(operator, method, f"/api/v1/jobs/x/{action}").status_code == 400


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"script": "x"},
        {"script": {"mount": "x", "name": "y"}},
        {"script": {"mount": "/probe", "name": "act"}, "colour": 1},
        {"script": {"mount": "/probe", "name": "act"}, "priority": 9},
        {"script": {"mount": "/probe", "name": "act"}, "sticky_key": 9007199254740993},
        {"script": {"mount": "/probe", "name": "act"}, "unique_key": 7},
        {"script": {"mount": "/probe", "name": "act"}, "back_off": {"function": "os:system"}},
        {"script": {"mount": "/probe", "name": "act"}, "success": {"function": "os:system"}},
        {"script": {"mount": "/probe", "name": "checked"}, "data": {"n": "x"}},
    ],
)
def test_a_bad_push_is_400_and_stores_nothing(operator, queue, body):
    answer = operator.post("/api/v1/queues/work/jobs", body, JSON)
    assert answer.status_code == 400
    assert answer["Content-Type"] == "application/problem+json"
    assert queue.all() == []


def test_queues_are_made_changed_paused_and_deleted(admin):
    made = [admin.post("/api/v1/queues", {"name": "q/1", "max_workers": n}, JSON) for n in (1, 2)]
    assert [answer.status_code for answer in made] == [201, 200]  # new, then known
    one = "/api/v1/queues/q%1F1"
    assert admin.patch(one, {"max_workers": 3}, JSON).json()["max_workers"] == 3
    assert bare(admin, "post", f"{one}/pause").json()["paused"] is True
    assert bare(admin, "post", f"{one}/resume").json()["paused"] is False
    assert "q/1" in [queue["name"] for queue in admin.get("/api/v1/queues").json()["results"]]
    assert admin.delete(one).status_code == 204
    assert admin.get(one).status_code == 404


def test_all_queues_are_paused_and_resumed(admin, queue):
    admin.post("/api/v1/queues", {"name": "pause"}, JSON)
    bare(admin, "post", "/api/v1/queues/work/pause")
    paused = bare(admin, "post", "/api/v1/queues/pause").json()
    assert paused == {"changed": 2, "queues": ["default", "pause"]}
    assert admin.get("/api/v1/queues/pause").json()["paused"] is True
    resumed = bare(admin, "post", "/api/v1/queues/resume").json()
    assert resumed == {"changed": 3, "queues": ["default", "pause", "work"]}


def test_roles_limit_what_is_done(rest_as, queue, act):
    viewer, operator = rest_as("viewer"), rest_as("operator")
    job_id = queue.push(act)
    assert viewer.get(f"/api/v1/jobs/{job_id}").status_code == 200
    assert bare(viewer, "post", f"/api/v1/jobs/{job_id}/abort").status_code == 403
    assert bare(viewer, "post", "/api/v1/queues/work/pause").status_code == 403
    assert bare(viewer, "post", "/api/v1/queues/pause").status_code == 403
    assert bare(viewer, "post", script_url("act")).status_code == 403
    assert operator.post("/api/v1/queues", {"name": "q"}, JSON).status_code == 403
    assert operator.post("/api/v1/services", {}, JSON).status_code == 403


def test_scripts_are_listed_with_their_titles(operator, tmp_path):
    configuration = {"file": str(tmp_path / "x")}
    installation.install("lifecycle", "/life", configuration=configuration, setup=False)
    assert operator.get("/api/v1/services/scripts?mount=/life").json() == {
        "setup": "Setup",
        "teardown": "Teardown",
        "send-mail": "Send Mail",
    }


def test_a_script_runs_now_with_its_arguments(operator):
    assert operator.post(script_url("act"), [1, "b"], JSON).json() == [1, "b"]
    assert operator.post(script_url("act"), {"result": {"a": 1}}, JSON).json() == {"a": 1}
    assert bare(operator, "post", script_url("act")).json() == []


def test_the_status_code_of_an_exception_is_the_answers(operator):
    odd = operator.post(script_url("act"), {"odd": True}, JSON)
    assert (odd.status_code, odd.json()["detail"]) == (418, "Odd: a teapot")
    died = operator.post(script_url("act"), {"die": True}, JSON)
    assert died.status_code == 500
    assert "signal 9" in died.json()["detail"]


def test_a_script_that_takes_too_long_is_ended(operator, settings, tmp_path):
    from dataclasses import replace

    settings.ATRIBUTO = replace(settings.ATRIBUTO, script_timeout_ms=200)
    operator.post(script_url("act"), [], JSON)  # its process is warm
    body = {"started": str(tmp_path / "s"), "go": str(tmp_path / "go"), "stubborn": True}
    answer = operator.post(script_url("wait"), body, JSON)
    assert answer.json()["detail"] == "timed out after 200ms"


def test_the_same_schema_checks_a_run_now(operator):
    assert operator.post(script_url("checked"), {"n": "x"}, JSON).status_code == 400
    assert operator.post(script_url("checked"), {}, JSON).json() == [{"n": 7}]


def test_an_unknown_script_is_named(operator):
    answer = operator.post(script_url("nowhere"), {}, JSON)
    assert (answer.status_code, answer.json()["script"]) == (404, "nowhere")


def test_a_lifecycle_script_that_is_not_defined_is_null(operator):
    assert bare(operator, "post", script_url("setup")).json() is None
    unknown = bare(operator, "post", script_url("nothing"))
    assert (unknown.status_code, "nothing" in unknown.json()["detail"]) == (404, True)


ROUTES = [
    ("get", "/api/v1/services/scripts"),
    ("post", "/api/v1/services/scripts/act"),
    ("get", "/api/v1/services/configuration"),
    ("put", "/api/v1/services/configuration"),
    ("post", "/api/v1/services/development"),
    ("delete", "/api/v1/services"),
]


@pytest.mark.parametrize(("method", "url"), ROUTES)
@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("", (400, "malformed")),
        ("?mount=", (400, "malformed")),
        ("?mount=/nowhere", (404, "service_not_found")),
    ],
)
def test_a_missing_mount_is_400_and_an_unknown_one_404(admin, method, url, query, answer):
    given = bare(admin, method, url + query)
    assert (given.status_code, given.json()["code"]) == answer


def test_services_are_installed_and_removed(admin, tmp_path):
    body = {"folder": "lifecycle", "mount": "/life", "configuration": {"file": str(tmp_path / "x")}}
    assert admin.post("/api/v1/services", body, JSON).status_code == 201
    assert admin.post("/api/v1/services", body, JSON).status_code == 409
    one = "/api/v1/services?mount=/life"
    assert admin.patch(one, {"folder": "lifecycle"}, JSON).status_code == 200
    assert admin.get(one).json()[0]["version"] == "2.0.0"
    assert admin.delete(one + "&teardown=no").status_code == 400
    assert admin.delete(one).status_code == 204
    assert admin.get(one).status_code == 404


@pytest.mark.parametrize("method", ["put", "patch"])
def test_a_configuration_can_be_sent_back_as_it_was_read(admin, probe, method):
    installation.configure(probe, {"token": "CANARY-config"})
    url = f"/api/v1/services/configuration?mount={probe}"
    values = admin.get(url).json()["values"]
    assert getattr(admin, method)(url, values, JSON).status_code == 200
    assert installation.service_at(probe).configuration["token"] == "CANARY-config"


def test_secrets_are_masked_everywhere(operator, admin, queue, hands, probe):
    installation.configure(probe, {"token": "CANARY-config"})
    data = {"n": 1, "pin": "CANARY-pin", "password": "CANARY-word", "say": ["it is CANARY-word"]}
    data |= {"file": "/nonexistent/CANARY-pin"}
    job_id = queue.push({"mount": probe, "name": "checked"}, data)
    hands.drain()
    urls = [f"jobs/{job_id}", f"jobs/{job_id}/attempts", "services", "events", "jobs"]
    pages = "".join(admin.get(f"/api/v1/{url}").content.decode() for url in urls)
    assert "FileNotFoundError" in pages
    assert "CANARY" not in pages


def test_the_schema_of_a_script_is_in_the_openapi_document(admin):
    document = admin.get("/api/v1/schema?format=json").content.decode()
    assert "script.probe_checked" in document
