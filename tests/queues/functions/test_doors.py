"""Functions on screens, over REST and in commands look like scripts."""

import json

import pytest
from django.core.management import call_command
from django.db import OperationalError

import queues
from atributo_site.core.models import Event
from queues.functions import rows
from queues.functions.declaration import lookup
from queues.functions.rows import store_all
from queues.models import QueuedJob, Script, Service
from tests.queues.functions.conftest import SHOP

pytestmark = pytest.mark.django_db(transaction=True)
PAGE = f"/services/py:{SHOP}/"
ADD = f"{PAGE}-/scripts/add/"
RUN_ADD = f"/api/v1/services/scripts/add?mount={SHOP}"


@pytest.fixture
def shown(shop):
    store_all()
    return shop


@pytest.fixture
def queue(shown):
    return queues.create("orders")


def test_the_rows_follow_the_declarations(shop):
    assert store_all() == [SHOP]
    assert store_all() == []
    Service.objects.create(mount="gone.tasks", name="functions", version="", folder="")
    Script.objects.filter(name="add").delete()
    assert store_all() == [SHOP, "gone.tasks"]
    add = Script.objects.get(name="add")
    assert (add.title, add.description) == ("Add", "Add two numbers.")
    kinds = list(Event.objects.order_by("id").values_list("kind", flat=True))
    assert kinds == ["service.declared", "service.declared", "service.undeclared"]


def test_a_row_has_schema_options_and_jobs_at_once(shown):
    add, fail, later = (Script.objects.get(name=name) for name in ("add", "fail", "later"))
    assert add.schema == {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        "additionalProperties": False,
        "required": ["a"],
    }
    assert fail.defaults == {"max_failures": 2, "back_off": 0, "timeout": 60_000}
    assert (add.threads, later.threads) == (1, 100)


def test_screens_show_functions(shown, client_as):
    operator = client_as("operator")
    assert "declared functions" in operator.get("/services/").text
    page = client_as("admin").get(PAGE).text
    assert "Add two numbers." in page
    assert "Uninstall" not in page and "Reload" not in page
    assert 'name="data-a" type="number"' in operator.get(ADD).text


def test_a_form_pushes_a_function(queue, client_as):
    client_as("operator").post(f"{ADD}push", {"data-a": "5", "data-b": "", "queue": "orders"})
    job = queue.get(queue.all()[0])
    assert (job.data, job.type["mount"]) == ({"a": 5}, SHOP)
    page = client_as("viewer").get(f"/jobs/{job.id}/").text
    assert ADD in page


def test_a_form_that_does_not_fit_says_why(shown, client_as):
    answer = client_as("operator").post(ADD, {"data-a": "x"})
    assert (answer.status_code, "must be" in answer.text) == (400, True)


def test_a_function_runs_from_its_form_and_over_rest(
    shown, client_as, rest_as, scripts_start_quickly
):
    page = client_as("operator").post(ADD, {"data-a": "5"}, follow=True).text
    assert '<span class="plain">7</span>' in page
    assert Event.objects.filter(kind="script.ran").count() == 1
    rest = rest_as("operator")
    for body in ([4], 4, {"a": 4}):
        answer = rest.post(RUN_ADD, body, content_type="application/json")
        assert (answer.status_code, answer.json()) == (200, 6)


def test_a_dry_run_undoes_what_a_function_wrote(shown, rest_as, scripts_start_quickly):
    url = f"/api/v1/services/scripts/write?mount={SHOP}&dry_run=true"
    answer = rest_as("operator").post(url, {"key": "x"}, content_type="application/json").json()
    assert [(each["key"], each["action"]) for each in answer["changes"]] == [("x", "put")]
    assert [each["script"] for each in answer["pushes"]] == ["add"]
    assert not QueuedJob.objects.exists()


def test_rest_pushes_functions_by_name(queue, rest_as):
    rest = rest_as("operator")
    body = {"script": {"mount": SHOP, "name": "add"}, "data": [1, 5], "repeat_times": 2}
    made = rest.post("/api/v1/queues/orders/jobs", body, content_type="application/json")
    assert queue.get(made.json()["id"]).data == {"a": 1, "b": 5}
    for wrong in ({"mount": "os", "name": "system"}, {"mount": SHOP, "name": "_hidden"}):
        refused = rest.post(
            "/api/v1/queues/orders/jobs", {"script": wrong}, content_type="application/json"
        )
        assert (refused.status_code, refused.json()["code"]) == (400, "bad_push")
    assert len(queue.all()) == 1


def test_what_belongs_to_folders_is_refused(shown, rest_as):
    rest = rest_as("admin")
    url = f"/api/v1/services?mount={SHOP}"
    answers = [
        rest.delete(url),
        rest.delete(f"{url}&force=true"),
        rest.patch(url, {"folder": "multiplier"}, content_type="application/json"),
        rest.put(url, {"folder": "multiplier"}, content_type="application/json"),
        rest.post(
            f"/api/v1/services/development?mount={SHOP}", {}, content_type="application/json"
        ),
    ]
    assert {(each.status_code, each.json()["code"]) for each in answers} == {(400, "bad_mount")}
    assert "declared functions" in answers[0].json()["detail"]


def test_commands_push_run_and_list_functions(queue, capsys, scripts_see_this_database):
    callback = ("--success", f"{SHOP}/called_back")
    call_command("push", "orders", SHOP, "add", "--data", '{"a": 1}', *callback)
    job = QueuedJob.objects.get(pk=capsys.readouterr().out.strip())
    assert (job.data, job.success) == ({"a": 1}, {"mount": SHOP, "name": "called_back"})
    call_command("service", "list", "--json")
    assert SHOP in {each["mount"] for each in json.loads(capsys.readouterr().out)}
    call_command("service", "refresh")
    assert capsys.readouterr().out == ""
    call_command("script", SHOP, "add", "4", "5")
    assert json.loads(capsys.readouterr().out) == 9
    with pytest.raises(SystemExit):
        call_command("push", "orders", SHOP, "nothing")
    assert "declares no function nothing" in capsys.readouterr().err


def test_a_worker_loads_its_functions_though_no_row_can_be_written(shop, monkeypatch):
    def refused():
        raise OperationalError("attempt to write a readonly database")

    monkeypatch.setattr(rows, "store_all", refused)
    rows.store_at_start()
    assert lookup(SHOP, "plain").path == f"{SHOP}.plain"
    assert not Service.objects.filter(mount=SHOP).exists()


def test_a_worker_loads_declared_modules_and_runs_their_functions(
    shop, process_environment, worker_process, wait_until
):
    queue = queues.create("orders", max_workers=10)
    queues.create("default")
    sync, loop = queue.push(shop.add, 1), queue.push(shop.later, 4)
    failing, written = queue.push(shop.fail), queue.push(shop.write, "k")
    worker_process("--burst", env={"ATRIBUTO_TASK_MODULES": SHOP})
    ended = QueuedJob.objects.filter(ended_at__isnull=False, queue__name="orders")
    wait_until(lambda: ended.count() == 4)
    assert [queue.get(each).result for each in (sync, loop, written)] == [3, 8, 1]
    assert queue.get(failing).run_failures == 3


def test_a_function_is_aborted_and_runs_where_its_key_is(
    shop, process_environment, worker_process, wait_until, tmp_path
):
    queue = queues.create("orders")
    stays = queue.get(queue.push(shop.stay, str(tmp_path / "marks")))
    worker_process("--instance", "till-1", env={"ATRIBUTO_TASK_MODULES": SHOP})
    wait_until(lambda: stays.status == "progress")
    stays.abort()
    sticky = queue.get(queue.push(shop.add, 1, sticky_key="customer-7"))
    wait_until(lambda: sticky.status == "complete")
    assert (stays.status, stays.failures) == ("failed", ["Job aborted."])
    assert QueuedJob.objects.get(pk=sticky.id).routed_to == "till-1"
