"""Required options, options that an upgrade drops, and setup and teardown in development mode."""

import json

import pytest
from django.core.management import call_command

import queues
from atributo_site.core.models import Event
from queues.errors import BadService, LifecycleScriptFailed, OptionsMissing
from queues.models import QueuedJob, Service
from queues.services import installation
from queues.worker.run_now import run_script

pytestmark = pytest.mark.usefixtures("scripts_start_quickly")
LACKS = "service /made is missing the required option key: none of its scripts run"
RUNS = "def run(context): return context.service.configuration"
TELLS = """
def run(context):
    with open(context.service.configuration["story"], "a") as file:
        file.write("{name} ")
"""
NEEDED = {"key": {"type": "string"}}


def option(kind="string", **more):
    return {"type": kind, "required": False, **more}


class TestUpgrade:
    def test_an_option_that_the_manifest_drops_is_discarded(self, write):
        write("made", {"a.py": RUNS}, configuration={"old": option(), "kept": option()})
        installation.install("made", "/made", configuration={"old": "1", "kept": "2"})
        write("made", {"a.py": RUNS}, configuration={"kept": option()})
        assert installation.upgrade("made", "/made").configuration == {"kept": "2"}
        assert Event.objects.get(kind="service.upgraded").facts["discarded"] == ["old"]

    def test_a_value_of_another_type_is_discarded_too(self, write):
        write("made", {"a.py": RUNS}, configuration={"port": option()})
        installation.install("made", "/made", configuration={"port": "25"})
        write("made", {"a.py": RUNS}, configuration={"port": option("integer", default=587)})
        assert installation.upgrade("made", "/made").settings() == {"port": 587}

    def test_an_option_that_is_given_must_still_fit(self, write):
        write("made", {"a.py": RUNS}, configuration={"old": option()})
        installation.install("made", "/made", configuration={"old": "1"})
        write("made", {"a.py": RUNS})
        with pytest.raises(BadService, match="old is not allowed"):
            installation.upgrade("made", "/made", configuration={"old": "1"})
        assert Service.objects.get().configuration == {"old": "1"}

    def test_over_rest_and_on_the_screen(self, write, rest_as, client_as):
        write("made", {"a.py": RUNS}, configuration={"old": option(), "older": option()})
        installation.install("made", "/made", configuration={"old": "1", "older": "2"})
        write("made", {"a.py": RUNS}, configuration={"old": option()})
        answer = rest_as("admin").patch(
            "/api/v1/services?mount=/made", {"folder": "made"}, content_type="application/json"
        )
        assert (answer.status_code, answer.json()["configuration"]) == (200, {"old": "1"})
        write("made", {"a.py": RUNS})
        page = client_as("admin").post("/services/made/-/upgrade", follow=True)
        assert "These options no longer exist: old." in page.text


class TestMissing:
    @pytest.fixture
    def made(self, write):
        write("made", {"a.py": RUNS, "broken.py": "1/0"}, {"a": "a.py"}, configuration=NEEDED)
        return installation.install("made", "/made")

    def test_a_script_does_not_run_until_it_is_there(self, made):
        with pytest.raises(OptionsMissing) as refusal:
            run_script("/made", "a")
        assert (str(refusal.value), refusal.value.facts["options"]) == (LACKS, ["key"])
        installation.configure("/made", {"key": "x"})
        assert run_script("/made", "a").result == {"key": "x"}

    def test_a_pushed_job_fails_when_it_starts_and_runs_once_it_is_there(self, made, hands):
        queue = queues.create("work")
        job_id = queue.push({"mount": "/made", "name": "a"})
        hands.drain()
        job = QueuedJob.objects.get(pk=job_id)
        assert (job.status, job.error) == ("failed", f"OptionsMissing: {LACKS}")
        installation.configure("/made", {"key": "x"})
        queue.get(job_id).reset()
        hands.drain()
        assert queue.get(job_id).result == {"key": "x"}

    def test_two_are_both_named(self, write):
        options = {**NEEDED, "host": {"type": "string"}, "port": {"type": "int", "default": 1}}
        write("made", {"a.py": RUNS}, configuration=options)
        service = installation.install("made", "/made")
        assert service.missing_options == ["host", "key"]
        with pytest.raises(OptionsMissing, match="the required options host, key"):
            run_script("/made", "a")

    def test_a_setup_that_cannot_run_is_one_that_fails(self, write, tmp_path):
        files = {"setup.py": "1/0", "a.py": RUNS}
        write("made", files, configuration=NEEDED)
        with pytest.raises(LifecycleScriptFailed, match="is missing the required option key"):
            installation.install("made", "/made")
        assert not Service.objects.exists()
        assert installation.install("made", "/made", setup=False).missing_options == ["key"]
        assert installation.upgrade("made", "/made").missing_options == ["key"]
        failed = Event.objects.get(kind="service.script_failed").facts
        assert (failed["script"], failed["error"]) == ("setup", LACKS)

    def test_rest_says_which(self, made, rest_as):
        client = rest_as("admin")
        assert client.get("/api/v1/services?mount=/made").json()[0]["missing_options"] == ["key"]
        path, kind = "/api/v1/services/scripts/a?mount=/made", "application/json"
        answer = client.post(path, {}, content_type=kind)
        problem = answer.json()
        assert (answer.status_code, problem["code"]) == (409, "options_missing")
        assert (problem["detail"], problem["options"]) == (LACKS, ["key"])

    def test_the_screens_say_which(self, made, client_as):
        client = client_as("admin")
        assert "options missing" in client.get("/services/").text
        for address in ("/services/made/", "/services/made/-/scripts/a/"):
            text = client.get(address).text
            assert "Its scripts cannot run:" in text and "<code>key</code>" in text
        answer = client.post("/services/made/-/scripts/a/")
        assert answer.status_code == 409 and LACKS in answer.text

    def test_the_install_form_takes_options(self, write, client_as):
        write("made", {"setup.py": "def run(context): pass"}, configuration=NEEDED)
        given = {"folder": "made", "mount": "/made", "configuration": "{}"}
        client = client_as("admin")
        assert LACKS in client.post("/services/", given).text
        assert client.post("/services/", {**given, "configuration": "[]"}).status_code == 400
        given["configuration"] = '{"key": "x"}'
        assert "Its scripts cannot run" not in client.post("/services/", given, follow=True).text
        assert Service.objects.get().configuration == {"key": "x"}

    def test_the_command_says_which(self, made, capsys):
        call_command("service", "list")
        assert "missing options" in (said := capsys.readouterr().out) and "key" in said
        call_command("service", "list", "--json")
        assert json.loads(capsys.readouterr().out)[0]["missing_options"] == ["key"]
        call_command("service", "upgrade", "made", "/made")
        assert LACKS in capsys.readouterr().out


class TestDevelopment:
    """The lifecycle is the same; besides, the setup runs before every other script."""

    @pytest.fixture
    def story(self, write, tmp_path):
        """What setup, teardown and a script have written, in development mode."""
        path = tmp_path / "story"
        names = ("setup", "teardown", "a")
        files = {f"{name}.py": TELLS.format(name=name) for name in names}
        write("made", files, configuration={"story": {"type": "string", "default": str(path)}})
        installation.install("made", "/made", development=True)

        def told():
            lines = path.read_text().split()
            path.write_text("")
            return lines

        return told

    def test_the_lifecycle_runs_what_it_runs_in_any_mode(self, story):
        assert story() == ["setup"]
        assert installation.upgrade("made", "/made").development is True
        assert story() == ["setup"]
        installation.upgrade("made", "/made", teardown=True)
        assert story() == ["teardown", "setup"]
        installation.uninstall("/made")
        assert story() == ["teardown"]

    def test_a_replacement_leaves_development_mode(self, story):
        story()
        assert installation.replace("made", "/made").development is False
        assert story() == ["teardown", "setup"]

    @pytest.mark.parametrize(
        ("script", "lines"),
        [("a", ["setup", "a"]), ("setup", ["setup"]), ("teardown", ["teardown"])],
    )
    def test_setup_runs_before_every_script_but_the_teardown(self, story, script, lines):
        story()
        run_script("/made", script)
        assert story() == lines
