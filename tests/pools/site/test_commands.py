"""The commands pools and resolve, typed right and wrong."""

import json

import pytest
from django.core.management import CommandError, call_command

from atributo_site.core.models import Event
from pools.management.commands.pools import Command
from pools.management.commands.resolve import Command as Resolve
from pools.models import Backend, Pool
from tests.pools.site.watching import states

pytestmark = pytest.mark.django_db


def said(capsys, *arguments):
    call_command(*arguments)
    return capsys.readouterr().out


def test_a_name_is_watched_changed_shown_and_forgotten(capsys):
    assert "is watched" in said(capsys, "pools", "watch", "web", "--domain", "svc.example")
    said(capsys, "pools", "change", "web", "--default-port", "81", "--pause")
    shown = json.loads(said(capsys, "pools", "show", "web", "--json"))
    assert (shown["default_port"], shown["shown_state"]) == (81, "paused")
    assert "web" in said(capsys, "pools", "list")
    said(capsys, "pools", "forget", "web")
    assert not Pool.objects.exists()
    assert set(Event.objects.about("pool:web").values_list("channel", flat=True)) == {"command"}


def test_backends_are_listed_and_decided_about(capsys, watching):
    watching.targets(1, 2)
    watching.name()
    watching.sweep()
    key = Backend.objects.get(port=8001).key
    rows = json.loads(said(capsys, "pools", "backends", "svc", "--json"))
    assert {row["instance_id"] for row in rows} == {"10.0.0.1:8001", "10.0.0.2:8002"}
    assert key in said(capsys, "pools", "backends", "svc")  # whole, or it could not be typed
    assert "10.0.0.1:8001 of svc: drain." in said(capsys, "pools", "drain", "svc", key)
    assert states()["10.0.0.1:8001"] == "draining"
    assert "administered" in said(capsys, "pools", "changes", "svc", "--limit", "1")


@pytest.mark.parametrize(
    "arguments",
    [
        ["show", "nix"],
        ["backends", "nix"],
        ["resolve", "nix"],
        ["forget", "nix"],
        ["drain", "nix", "key"],
    ],
)
def test_an_unknown_name_is_refused_with_code_1(capsys, arguments):
    with pytest.raises(SystemExit) as stop:
        call_command("pools", *arguments)
    assert stop.value.code == 1
    assert "there is no pool named nix" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["watch", "web"],
        ["fly", "web"],
        ["watch", "web", "--domain", "svc.example", "--recovery", "{"],
        ["watch", "web", "--domain", "svc.example", "--default-port", "x"],
    ],
)
def test_a_line_that_cannot_be_parsed_is_code_2(capsys, arguments):
    command = Command()
    command._called_from_command_line = True
    parser = command.create_parser("manage.py", "pools")
    with pytest.raises(SystemExit) as stop:
        parser.parse_args(arguments)
    assert stop.value.code == 2
    assert "usage: manage.py pools" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["web", "--domain", "a b"], "domain: not a DNS name"),
        (["a/b", "--domain", "svc.example"], "name: Letters, digits"),
        (["web", "--domain", "svc.example", "--nameserver", "8.8.8.8"], "may not be asked"),
        (["web", "--domain", "svc.example", "--recovery", "[]"], "recovery"),
        (["web", "--domain", "svc.example", "--removal-share", "2"], "removal_share"),
        (["web", "--domain", "svc.example", "--removal-share", "-1"], "removal_share"),
    ],
)
def test_settings_that_cannot_work_are_code_2(arguments, words):
    with pytest.raises(CommandError, match=words) as refused:
        call_command("pools", "watch", *arguments)
    assert refused.value.returncode == 2
    assert not Pool.objects.exists()


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["svc.example:8080", "-s", "_x._tcp"], 0),
        (["nix.example"], 1),
        (["--colour", "svc.example"], 2),
        (["-t", "soon", "svc.example"], 2),
        ([], 2),
    ],
)
def test_resolve_ends_with_the_codes_of_the_library(capsys, dns_server, arguments, code):
    dns_server.set("svc.example", "A", ["10.0.0.7"])
    line = ["manage.py", "resolve", "-r", f"127.0.0.1:{dns_server.port}", *arguments]
    with pytest.raises(SystemExit) as stop:
        Resolve().run_from_argv(line)
    output = capsys.readouterr().out
    assert (stop.value.code, "10.0.0.7          8080 " in output) == (code, code == 0)
