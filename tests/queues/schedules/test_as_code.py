"""Schedules in a service's manifest, and what happens to what people changed."""

import json
from io import StringIO

import pytest
from django.core.management import call_command

from atributo_site.core.models import Event
from queues import schedules
from queues.errors import BadService
from queues.models import Schedule
from queues.services import installation

DAILY = {"script": "act", "rule": {"cron": "@daily"}}


@pytest.fixture
def deploy(service_roots, transactional_db, tmp_path, settings):
    """deploy({...}) installs a service with these schedules, or upgrades it."""
    from dataclasses import replace

    settings.ATRIBUTO = replace(settings.ATRIBUTO, service_roots=(str(tmp_path),))
    folder = tmp_path / "cron"
    folder.mkdir()
    (folder / "act.py").write_text("def run(context):\n    return None\n")

    def install(declared):
        manifest = {"name": "cron", "version": "1.0.0", "scripts": {"act": "act.py"}}
        manifest["schedules"] = declared
        (folder / "manifest.json").write_text(json.dumps(manifest))
        installation.upgrade("cron", "/cron", setup=False, force=True)
        newest = Event.objects.filter(subject="service:/cron").latest("id")
        return newest.facts.get("schedules", {})

    return install


def test_a_manifest_adds_changes_and_removes_schedules(deploy):
    assert deploy({"nightly": DAILY}) == {"added": ["cron.nightly"]}
    schedule = schedules.row("cron.nightly")
    assert (schedule.service, schedule.mount, schedule.script) == ("/cron", "/cron", "act")
    assert deploy({"nightly": DAILY}) == {}
    assert deploy({"nightly": {**DAILY, "zone": "Asia/Tokyo"}}) == {"changed": ["cron.nightly"]}
    assert schedules.row("cron.nightly").zone == "Asia/Tokyo"
    assert deploy({}) == {"removed": ["cron.nightly"]}
    assert not Schedule.objects.exists()


def test_what_a_person_changed_stays_and_is_named(deploy):
    deploy({"nightly": DAILY})
    schedules.change("cron.nightly", rule={"cron": "@weekly"})
    schedules.pause("cron.nightly", reason="holidays")
    changed = {"nightly": {"script": "act", "rule": {"cron": "@hourly"}, "overlap": "beside"}}
    assert deploy(changed) == {
        "changed": ["cron.nightly"],
        "conflicts": ["cron.nightly: rule"],
    }
    schedule = schedules.row("cron.nightly")
    assert (schedule.rule, schedule.overlap) == ({"cron": "@weekly"}, "beside")
    assert schedule.pause_reason == "holidays"
    assert "no longer in the manifest" in deploy({})["conflicts"][0]
    assert schedules.row("cron.nightly").service == ""


def test_uninstalling_removes_them(deploy):
    deploy({"nightly": {"script": "act", "rule": {"every": "90m"}}})
    assert deploy({"nightly": {"script": "act", "rule": {"every": "90m"}}}) == {}
    installation.uninstall("/cron", teardown=False)
    assert not Schedule.objects.exists()


@pytest.mark.parametrize(
    "entry, said",
    [
        ({"script": "nope", "rule": {"cron": "@daily"}}, "a script of this manifest"),
        ({"script": "act", "rule": {"cron": "61 * * * *"}}, "the minute field"),
        ({"script": "act", "rule": {"cron": "@daily"}, "zone": "Mars/Base"}, "no time zone"),
        ("daily", "must be an object"),
    ],
)
def test_a_wrong_schedule_refuses_the_whole_manifest(deploy, entry, said):
    with pytest.raises(BadService, match=said):
        deploy({"nightly": entry})
    assert not Schedule.objects.exists()


def test_the_command_prints_the_difference(deploy):
    deploy({"nightly": DAILY})
    Schedule.objects.all().delete()
    out = StringIO()
    call_command("service", "upgrade", "cron", "/cron", "--no-setup", stdout=out)
    assert "schedules added: cron.nightly" in out.getvalue()
