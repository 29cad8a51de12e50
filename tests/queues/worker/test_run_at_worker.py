"""A script that is run now runs at a worker, and whoever asked gets the answer or an address."""

import pytest

from atributo_site.core.events import Actor, acting
from atributo_site.core.models import Event
from queues.children.child_process import Workhorse
from queues.errors import NoWorker, ScriptFailed
from queues.models import ScriptRun, Service
from queues.services import installation
from queues.worker import script_runs
from queues.worker.run_now import run_script

pytestmark = [pytest.mark.usefixtures("probe"), pytest.mark.django_db(transaction=True)]
URL = "/api/v1/services/scripts/act?mount=/probe"


@pytest.fixture
def operator(rest_as):
    client = rest_as("operator")

    def post(body, url=URL):
        return client.post(url, body, content_type="application/json")

    post.get = client.get
    return post


@pytest.fixture
def impatient(monkeypatch):
    """Whoever asks waits for no answer."""
    monkeypatch.setattr(script_runs, "WAIT_SECONDS", 0.0)
    monkeypatch.setattr(script_runs, "_has_workers", lambda: True)


@pytest.fixture
def take():
    """take() → run what waits, as a worker does."""
    horse = Workhorse(512)
    yield lambda holder="hands", stops=False: script_runs.run_next(
        holder, horse, lambda: None, lambda: stops
    )
    horse.close()


def test_without_a_worker_there_is_a_clear_answer_at_once(operator):
    answer = operator({"result": 1})
    assert answer.status_code == 503
    assert answer.json()["code"] == "no_worker"
    assert "no worker is running" in answer.content.decode()
    assert not ScriptRun.objects.exists()


def test_without_a_worker_the_form_says_so_and_stays_filled_in(client_as):
    page = client_as("operator").post(
        "/services/probe/-/scripts/act/", {"data": '{"result": 4711}'}
    )
    assert page.status_code == 503
    assert "no worker is running" in page.text and "4711" in page.text


def test_a_worker_answers_with_the_result_or_the_scripts_own_error(worker, operator):
    process = worker("a")
    answer = operator({"result": 42})
    assert (answer.status_code, answer.json()) == (200, 42)
    assert operator({"odd": True}).status_code == 418
    keeper, its_parent, *_ = operator({"family": True}).json()
    assert its_parent == process.pid != keeper


def test_install_runs_setup_at_a_worker(worker, tmp_path):
    with pytest.raises(NoWorker):
        installation.install("lifecycle", "/life", configuration={"file": str(tmp_path / "s")})
    assert not Service.objects.filter(mount="/life").exists()
    worker("a")
    installation.install("lifecycle", "/life", configuration={"file": str(tmp_path / "s")})
    assert (tmp_path / "s").read_text().startswith("setup")


def test_what_takes_longer_has_an_address(impatient, operator, take, rest_as):
    answer = operator({"result": 42})
    assert answer.status_code == 202
    address = answer.headers["Location"]
    assert answer.json()["state"] == "waiting"
    assert take()
    ended = operator.get(address).json()
    assert (ended["state"], ended["result"]) == ("complete", 42)
    assert rest_as("admin").get(address).status_code == 404  # it was asked for by another
    assert Event.objects.get(kind="script.ran").facts["script"] == "act"


def test_a_slow_run_is_shown_in_the_browser_once_it_has_ended(impatient, client_as, take):
    page = client_as("operator")
    asked = page.post("/services/probe/-/scripts/act/", {"data": '{"result": 4711}'}, follow=True)
    assert "Still running" in asked.text
    assert take()
    assert "4711" in page.get(asked.request["PATH_INFO"], asked.context["request"].GET).text


def test_a_run_is_taken_once(impatient, operator, take):
    operator({"result": 1})
    assert (take(), take()) == (True, False)


def test_what_nobody_begins_in_time_is_never_begun(impatient, operator, take, monkeypatch):
    monkeypatch.setattr(script_runs, "BEGIN_SECONDS", -1.0)
    address = operator({"result": 1}).headers["Location"]
    assert not take()
    ended = operator.get(address).json()
    assert (ended["state"], ended["status_code"]) == ("failed", 503)
    assert "no worker was free" in ended["error"]


def test_a_run_whose_worker_died_has_failed_and_is_not_run_again(impatient, operator, take):
    address = operator({"result": 1}).headers["Location"]
    run = script_runs.taken("the dead")
    ScriptRun.objects.filter(pk=run.pk).update(leased_until=script_runs.from_now(-1))
    assert "its worker died" in operator.get(address).json()["error"]
    script_runs._store(run, "the dead", {"result": "too late"})
    assert operator.get(address).json()["state"] == "failed"
    assert not take()


def test_a_stopping_worker_ends_a_run_in_time(impatient, operator, take, monkeypatch, tmp_path):
    monkeypatch.setattr(script_runs, "STOP_SECONDS", -1.0)
    started, go = tmp_path / "started", tmp_path / "go"
    url = "/api/v1/services/scripts/wait?mount=/probe"
    address = operator({"started": str(started), "go": str(go)}, url).headers["Location"]
    assert take(stops=True)
    assert operator.get(address).json()["error"] == "the worker stopped"


def test_a_command_runs_it_in_a_child_of_its_own(scripts_start_quickly):
    assert run_script("/probe", "act", {"result": 7}).result == 7
    with pytest.raises(ScriptFailed):
        run_script("/probe", "act", {"odd": True})
    assert not ScriptRun.objects.exists()


def test_old_runs_are_forgotten(impatient, operator, sweep):
    operator({"result": 1})
    ScriptRun.objects.update(created_at=script_runs.from_now(-2 * 86400))
    sweep()
    assert not ScriptRun.objects.exists()


def test_only_whoever_asked_finds_a_run(impatient, operator):
    key = operator({"result": 1}).json()["id"]
    with acting(Actor("somebody")), pytest.raises(Exception, match="no such run"):
        script_runs.get_run(key)
