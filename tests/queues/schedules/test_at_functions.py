"""Schedules that `@task` declares, made at deploy; what people changed stays."""

from dataclasses import replace

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command

from queues import schedules
from queues.functions import declaration, modules
from queues.models import Schedule
from queues.schedules import as_code
from queues.tasks import task

MODULE = "shop.tasks"


@pytest.fixture
def shop(transactional_db, monkeypatch, settings):
    """shop(schedule={...}) declares a function anew, as the next release would."""
    settings.ATRIBUTO = replace(settings.ATRIBUTO, task_modules=(MODULE,))
    monkeypatch.setattr(declaration, "_declared", {})
    monkeypatch.setattr(modules, "_loaded", {MODULE, *modules.discovered()})

    def declare(**given):
        declaration._declared.clear()

        def clean_up(days: int = 7):
            return days

        clean_up.__module__, clean_up.__qualname__ = MODULE, "clean_up"
        task(**given)(clean_up)

    return declare


def deployed(**options):
    return {name: each.facts() for name, each in as_code.deploy(**options).items()}


def test_a_deploy_adds_changes_and_removes(shop):
    shop(schedule={"rule": {"cron": "@daily"}, "zone": "Europe/Berlin", "data": {"days": 3}})
    assert deployed(preview=True) == {MODULE: {"added": ["shop.tasks.clean_up"]}}
    assert not Schedule.objects.exists()
    assert deployed() == {MODULE: {"added": ["shop.tasks.clean_up"]}}
    assert deployed() == {}
    row = schedules.row("shop.tasks.clean_up")
    assert (row.mount, row.script, row.data, row.zone) == (
        MODULE,
        "clean_up",
        {"days": 3},
        "Europe/Berlin",
    )
    shop(schedules={"clean_up": {"rule": {"cron": "@weekly"}}, "more": {"rule": {"every": "90m"}}})
    facts = deployed()[MODULE]
    assert facts == {"added": ["shop.tasks.more"], "changed": ["shop.tasks.clean_up"]}
    shop()
    assert set(deployed()[MODULE]["removed"]) == {"shop.tasks.clean_up", "shop.tasks.more"}
    assert not Schedule.objects.exists()


def test_a_persons_change_and_pause_survive(shop, capsys):
    shop(schedule={"rule": {"cron": "@daily"}})
    deployed()
    schedules.change("shop.tasks.clean_up", rule={"cron": "@weekly"})
    schedules.pause("shop.tasks.clean_up", reason="holidays")
    shop(schedule={"rule": {"cron": "@hourly"}})
    call_command("schedules", "deploy")
    assert capsys.readouterr().out == "shop.tasks: conflicts: shop.tasks.clean_up: rule\n"
    row = schedules.row("shop.tasks.clean_up")
    assert (row.rule, row.pause_reason) == ({"cron": "@weekly"}, "holidays")
    call_command("schedules", "deploy")
    assert capsys.readouterr().out == "nothing to change\n"


def test_a_module_that_cannot_be_read_keeps_its_schedules(shop, monkeypatch):
    shop(schedule={"rule": {"cron": "@daily"}})
    deployed()
    shop()
    monkeypatch.setattr(as_code, "load", lambda: {MODULE: "no module named tax"})
    assert deployed() == {}
    assert Schedule.objects.exists()


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"rule": {"cron": "61 * * * *"}}, "minute"),
        ({"rule": {"cron": "@daily"}, "zone": "Mars/Olympus"}, "Mars/Olympus"),
        ("@daily", "must be an object"),
    ],
)
def test_what_cannot_be_read_is_refused_at_the_declaration(shop, fields, reason):
    with pytest.raises(ImproperlyConfigured, match=reason):
        shop(schedule=fields)
