"""Limits of a script are set at run time; an upgrade keeps what a person has set."""

import pytest
from django.core.management import call_command

from atributo_site.core.models import Event
from queues.errors import BadService, ScriptNotFound
from queues.logic.flow.limits import parsed, stored
from queues.models import QueuedJob, Script, Service
from queues.runs.reservation import reserve
from queues.runs.slots import acquire
from queues.services import installation
from queues.services.script_limits import carried_over, set_limits

JSON = "application/json"
TWO = [{"per": "script", "at_once": 2}]
URL = "/api/v1/services/scripts/act?mount=/probe"


def held(queue, number):
    batch = reserve(acquire(queue.name, number, "hands"), 10)
    return len(batch.jobs) if batch else 0


@pytest.fixture
def queue(probe):
    import queues

    return queues.create("wide", max_workers=9)


def test_they_hold_for_what_already_waits(queue, act):
    queue.push_many(act, [None] * 5)
    assert set_limits("/probe", "act", TWO)
    assert [held(queue, 0), held(queue, 1)] == [2, 0]
    set_limits("/probe", "act", [{"per": "script", "at_once": 3}])
    assert held(queue, 2) == 1
    set_limits("/probe", "act", [])
    assert held(queue, 3) == 2


def test_the_same_again_changes_nothing(probe):
    assert set_limits("/probe", "act", TWO)
    assert not set_limits("/probe", "act", TWO)
    assert Event.objects.filter(kind="script.changed").count() == 1


def test_what_cannot_be_a_limit_is_refused(probe):
    with pytest.raises(BadService, match="a rate allows from 1"):
        set_limits("/probe", "act", [{"per": "script", "rate": "0/s"}])
    with pytest.raises(ScriptNotFound, match="no script nothing at /probe"):
        set_limits("/probe", "nothing", TWO)
    assert Script.objects.get(name="act").limits is None


def test_an_upgrade_keeps_them(probe):
    set_limits("/probe", "act", TWO)
    installation.upgrade("probe", "/probe", setup=False)
    script = Script.objects.get(name="act")
    assert (script.limits, script.declared_limits) == (TWO, None)
    assert "limits_in_conflict" not in Event.objects.filter(kind="service.upgraded").last().facts
    set_limits("/probe", "act", None)
    assert Script.objects.get(name="act").limits is None


@pytest.mark.parametrize(
    ("before", "after", "kept", "conflicts"),
    [(1, 1, 2, {}), (1, 3, 2, {"limits_in_conflict": ["send"]}), (1, 2, 2, {})],
)
def test_a_conflict_is_named_when_the_manifest_changes(before, after, kept, conflicts):
    def limit(number):
        return stored(parsed([{"per": "key", "at_once": number}]))

    old = Script(name="send", limits=limit(2), limits_by="ada", declared_limits=limit(before))
    new = Script(name="send", limits=limit(after))
    assert carried_over([old], [new]) == conflicts
    assert new.limits == limit(kept)
    assert bool(new.limits_by) == (after != kept)


def test_functions_keep_them_when_they_are_declared_anew(probe):
    from queues.functions.rows import _replace

    service = Service.objects.create(mount="shop.tasks", folder="", name="functions")
    Script.objects.create(service=service, name="mail", limits=TWO, limits_by="ada")
    fields = {"name": "mail", "title": "mail", "description": "", "defaults": {}}
    _replace(service, "shop.tasks", [fields])
    assert Script.objects.get(name="mail").limits == TWO


def test_rest_sets_them(probe, rest_as):
    assert rest_as("operator").patch(URL, {"limits": TWO}, JSON).status_code == 403
    told = rest_as("admin").patch(URL, {"limits": TWO}, JSON).json()
    assert (told["limits"], told["limits_by"], told["declared_limits"]) == (TWO, "admin", [])
    told = rest_as("admin").patch(URL, {"limits": None}, JSON).json()
    assert (told["limits"], told["limits_by"]) == ([], "")


def test_the_command_sets_and_shows_them(probe, capsys):
    call_command("service", "limits", "/probe", "act", '[{"per": "script", "at_once": 2}]')
    call_command("service", "limits", "/probe", "act")
    assert capsys.readouterr().out.count("2 at once per script, set by") == 2


def test_the_page_sets_them_and_goes_back(queue, act, client_as):
    queue.push(act)
    held(queue, 0)
    page = "/services/probe/-/scripts/act/"
    post = client_as("admin").post
    told = post(f"{page}limits", {"limits": '[{"per": "script", "at_once": 2}]'}, follow=True)
    assert "act: 2 at once per script. 1 job runs now" in told.text
    assert "Set by admin" in told.text
    assert "not valid JSON" in post(f"{page}limits", {"limits": "["}, follow=True).text
    assert "No limits." in post(f"{page}limits", {"declared": "yes"}, follow=True).text
    assert QueuedJob.objects.filter(slot__isnull=False).count() == 1
