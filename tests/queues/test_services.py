"""Install, upgrade, replace, uninstall; what each runs and keeps."""

import json

import pytest

from atributo_site.console.services.detail import last_endings
from atributo_site.core.models import Event
from queues.errors import BadMount, BadService, LifecycleScriptFailed, MountTaken, ServiceNotFound
from queues.models import Service
from queues.services import installation

pytestmark = pytest.mark.usefixtures("service_roots", "scripts_start_quickly")


@pytest.fixture
def story(tmp_path, transactional_db):
    """What setup and teardown have written, and the configuration that tells them where."""

    class Story:
        path = tmp_path / "story"
        configuration = {"file": str(path)}

        def lines(self):
            return self.path.read_text().splitlines() if self.path.exists() else []

    return Story()


def install(story, **options):
    return installation.install("lifecycle", "/life", configuration=story.configuration, **options)


def test_install_runs_setup(story):
    service = install(story)
    assert story.lines() == ["setup red life_texts"]
    assert (service.version, service.mount) == ("2.0.0", "/life")


def test_a_taken_mount_is_refused(story):
    install(story, setup=False)
    with pytest.raises(MountTaken):
        install(story)
    assert story.lines() == []


def test_a_failing_setup_installs_nothing_unless_forced(story):
    story.configuration["fail"] = "setup"
    with pytest.raises(LifecycleScriptFailed, match="told to fail"):
        install(story)
    assert not Service.objects.exists()
    install(story, force=True)
    assert Service.objects.exists()


def test_upgrade_keeps_configuration_and_runs_setup_only(story):
    install(story, setup=False, development=True)
    service = installation.upgrade("lifecycle", "/life", configuration={"colour": "blue"})
    assert story.lines() == ["setup blue life_texts"]
    assert service.settings()["file"] == story.configuration["file"]
    assert service.development is True


def test_replace_runs_both_and_drops_configuration(story):
    install(story, setup=False, development=True)
    installation.configure("/life", {"colour": "blue"})
    service = installation.replace("lifecycle", "/life", configuration=story.configuration)
    assert story.lines() == ["teardown blue life_texts", "setup red life_texts"]
    assert (service.settings()["colour"], service.development) == ("red", False)


def test_a_failing_setup_does_not_stop_an_upgrade(story):
    install(story, setup=False)
    service = installation.upgrade("lifecycle", "/life", configuration={"fail": "setup"})
    assert service.configuration["fail"] == "setup"


def test_how_setup_and_teardown_ended_stands_in_the_event_and_on_the_page(story, client_as):
    client = client_as("viewer")
    install(story, setup=False)
    assert "Setup and teardown" not in client.get("/services/life/").text
    installation.replace("lifecycle", "/life", configuration=story.configuration)
    facts = Event.objects.get(kind="service.replaced").facts
    assert (facts["teardown"], facts["setup"]) == ("complete", "complete")
    installation.upgrade("lifecycle", "/life", configuration={"fail": "setup"})
    assert Event.objects.get(kind="service.upgraded").facts["setup"] == "failed"
    told = {ended.script: ended for ended in last_endings("/life")}
    assert (told["setup"].outcome, told["teardown"].outcome) == ("failed", "complete")
    assert "told to fail" in told["setup"].error and told["teardown"].error == ""
    assert "told to fail" in client.get("/services/life/").text


def test_a_new_service_does_not_tell_what_the_one_before_it_did(story):
    install(story)
    installation.uninstall("/life")
    install(story, setup=False)
    assert last_endings("/life") == []
    installation.uninstall("/life")
    story.configuration["fail"] = "setup"
    install(story, force=True)
    assert [(each.outcome, "told to fail" in each.error) for each in last_endings("/life")] == [
        ("failed", True)
    ]


def test_uninstall_runs_teardown_and_stops_on_its_failure(story):
    install(story, setup=False)
    installation.configure("/life", {"fail": "teardown"})
    with pytest.raises(LifecycleScriptFailed):
        installation.uninstall("/life")
    assert Service.objects.exists()
    installation.uninstall("/life", force=True)
    assert not Service.objects.exists()
    assert story.lines() == ["teardown red life_texts"] * 2


@pytest.mark.parametrize("change", [installation.upgrade, installation.replace])
def test_what_is_not_installed_cannot_be_changed_unless_forced(story, change):
    with pytest.raises(ServiceNotFound):
        change("lifecycle", "/life")
    with pytest.raises(BadService):
        change("lifecycle", "/life", configuration={"size": 3}, force=True)
    assert not Service.objects.exists()
    assert change("lifecycle", "/life", configuration=story.configuration, force=True).pk
    assert story.lines() == ["setup red life_texts"]  # there was nothing to tear down
    with pytest.raises(ServiceNotFound):
        installation.uninstall("/nowhere")
    assert installation.uninstall("/nowhere", force=True) is False


def test_every_error_of_a_folder_is_told_at_once(transactional_db):
    with pytest.raises(BadService) as refusal:
        installation.install("bad_paths", "/bad")
    errors = "\n".join(refusal.value.facts["errors"])
    for word in ("name", "version", "inside the service", "max_failures", "gone.py is no file"):
        assert word in errors
    assert not Service.objects.exists()


@pytest.mark.parametrize(
    "folder", ["../queues", "/etc", "nowhere", "not_json", ".", "a\x00b", "a" * 300]
)
def test_a_folder_that_is_no_service_is_refused(transactional_db, folder):
    with pytest.raises(BadService):
        installation.install(folder, "/bad")


@pytest.fixture
def folder(tmp_path, settings, service_roots, monkeypatch):
    """folder(files) → the name of a folder below a service root."""
    from dataclasses import replace

    settings.ATRIBUTO = replace(settings.ATRIBUTO, service_roots=(str(tmp_path / "root"),))
    monkeypatch.setenv("ATRIBUTO_SERVICE_ROOTS", str(tmp_path / "root"))

    def make(**files):
        place = tmp_path / "root" / "made"
        place.mkdir(parents=True)
        manifest = '{"name": "made", "version": "1.0.0", "scripts": {"a": "a.py"}}'
        for name, text in {"manifest.json": manifest, **files}.items():
            (place / name).write_text(text)
        return place

    return make


def test_a_script_with_a_syntax_error_is_refused(transactional_db, folder):
    folder(**{"a.py": "def run(context) return"})
    with pytest.raises(BadService, match="syntax error"):
        installation.install("made", "/made")


def test_what_is_odd_about_a_manifest_is_told_with_the_event(transactional_db, folder):
    odd = {"name": "made", "version": "one", "scripts": {"a": "a.py"}, "colour": 1}
    folder(**{"a.py": "def run(context): pass", "manifest.json": json.dumps(odd)})
    installation.install("made", "/made")
    facts = Event.objects.get(kind="service.installed").facts
    assert facts["warnings"] == ["unknown field colour", "version is not semantic: one"]


def test_a_missing_script_is_refused(transactional_db, folder):
    folder()
    with pytest.raises(BadService, match="is no file of the service"):
        installation.install("made", "/made")


def test_a_link_out_of_the_root_is_refused(transactional_db, folder, tmp_path):
    (tmp_path / "outside.py").write_text("def run(context): pass")
    (folder() / "a.py").symlink_to(tmp_path / "outside.py")
    with pytest.raises(BadService, match="outside the service roots"):
        installation.install("made", "/made")


def test_a_script_that_others_may_change_is_refused(transactional_db, folder):
    (folder(**{"a.py": "def run(context): pass"}) / "a.py").chmod(0o666)
    with pytest.raises(
        BadService, match=r"a\.py may be changed by everybody \(mode 0666\): chmod o-w"
    ):
        installation.install("made", "/made")


@pytest.mark.parametrize("mount", ["/_x", "/app", "x", "/a b", "/3x"])
def test_a_bad_mount_is_refused(transactional_db, mount):
    with pytest.raises(BadMount):
        installation.install("probe", mount)


def test_configuration_is_checked(story):
    install(story, setup=False)
    with pytest.raises(BadService, match="cannot be stored"):
        installation.configure("/life", {"colour": "a\x00b"})
    with pytest.raises(BadService, match="colour must be of type string"):
        installation.configure("/life", {"colour": 3})
    with pytest.raises(BadService, match="size is not allowed"):
        installation.configure("/life", {"size": 3})
    installation.configure("/life", {}, whole=True)
    assert installation.warnings_of(installation.service_at("/life")) == {"file": "is required"}


def test_development_mode_reads_scripts_anew_after_setup(transactional_db, folder):
    from queues.worker.run_now import run_script

    place = folder(**{"a.py": "def run(context): return 1"})
    installation.install("made", "/made", development=True)
    assert run_script("/made", "a").result == 1
    (place / "a.py").write_text("def run(context): return 22")
    assert run_script("/made", "a").result == 22


@pytest.mark.parametrize("name", ["mailer", "multiplier", "counter", "fragile", "traffic"])
def test_every_demo_service_can_be_installed(transactional_db, name):
    assert installation.install(name, f"/{name}", setup=False).scripts.exists()
