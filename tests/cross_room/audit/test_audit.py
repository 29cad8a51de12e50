"""Every change leaves an event, whichever way it came: who, through which channel, what."""

import json
import subprocess
import sys
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command, get_commands, load_command_class

from allocation.transactions import Client, Transaction
from allocation.transactions.models import Lock
from allocation.transactions.models import Transaction as Row
from atributo_site import django_commands
from atributo_site.commands import os_user
from atributo_site.core.leases import HeldLease
from atributo_site.core.models import Event
from atributo_site.models import Incident
from pools.models import Backend, Pool
from queues.models import Batch, Operation, QueuedJob, Service
from tests.console.every_url import every_url
from tests.cross_room.audit.audited_commands import COMMANDS, PROCESSES
from tests.cross_room.audit.audited_rest import KEPT, NOTHING, REST

ROOT = Path(__file__).resolve().parents[3]
BATCH = {"queue": "q", "jobs": [{"script": {"mount": "/probe", "name": "act"}}]}
CHANGES = {"POST", "PUT", "PATCH", "DELETE"}


@pytest.fixture
def prepared(probe, scripts_start_quickly, settings, tmp_path):
    """Make what no request can make, such as a stuck transaction or an active curator."""
    settings.ATRIBUTO = replace(settings.ATRIBUTO, max_job_time_ms=600_000)
    txn = Transaction(Client())
    txn.put("stuck", "k", 1)
    Row.objects.filter(pk=txn.id).update(status="stuck")
    HeldLease.take("curator", "host:1", 3600, name="first")
    Service.objects.create(mount="old.tasks", name="functions", version="", folder="")
    facts = {"severity": "error", "title": "1 transaction is stuck"}
    incident = Incident.objects.create(kind="transactions.stuck", subject="site:t", **facts)
    (tmp_path / "batch.json").write_text(json.dumps(BATCH))
    return {"stuck": txn.id, "incident": incident.pk, "file": tmp_path / "batch.json"}


@pytest.fixture
def transactions_of_others():
    first, second, third = (Transaction(Client()) for _ in range(3))
    third.lock("held", "k")
    lock = Lock.objects.get(transaction=third.id).pk
    return {"first": first.id, "second": second.id, "lock": lock}


@pytest.fixture
def manage(process_environment):
    """Return a function: manage("axes_reset") → how that command ended."""

    def run(*arguments):
        line = [sys.executable, "manage.py", *arguments]
        return subprocess.run(line, cwd=ROOT, env=process_environment, capture_output=True)

    return run


def newest():
    return Event.objects.order_by("pk").values_list("pk", flat=True).last() or 0


def a_backend_of_web():
    facts = {"address": "10.0.0.1", "port": 80, "instance_id": "web-1"}
    Backend.objects.create(pool=Pool.objects.get(name="web"), key="10.0.0.1:80", **facts)


def of_others(words, name):
    """Make rows that a process of its own would have made by now."""
    if name == "api-pool-backend":
        a_backend_of_web()
    if name == "api-lock-release":
        words["lock"] = Lock.objects.get(transaction=words["txn"]).pk


def test_every_method_of_the_rest_api_is_in_the_table():
    doors = {
        (method, url.name)
        for url in every_url()
        if url.kind == "rest"
        for method in CHANGES & set(url.actions)
    }
    assert doors == {(method, name) for method, name, *_ in REST}


def test_every_change_over_rest_names_the_caller(prepared, rest_as):
    rest, words, missing = rest_as("admin", name="ada"), dict(prepared), []
    for method, name, path, body, kind in REST:
        of_others(words, name)
        last = newest()
        text = "" if body is None else json.dumps(body)
        answer = rest.generic(method, f"/api/v1{path.format(**words)}", text, "application/json")
        assert answer.status_code < 300 or kind in (NOTHING, "script.failed"), answer.text
        new = Event.objects.filter(pk__gt=last, actor="ada", channel="rest")
        if kind is not NOTHING and not new.filter(kind=kind).exists():
            missing.append((method, path, kind, list(new.values_list("kind", flat=True))))
        if name in KEPT:
            words[KEPT[name][0]] = answer.json()[KEPT[name][1]]
    assert missing == []


def verbs_of(name):
    """Return the verbs of a command, or none."""
    parser = load_command_class(get_commands()[name], name).create_parser("manage.py", name)
    verbs = [each.choices for each in parser._actions if hasattr(each.choices, "items")]
    return {f"{name} {verb}" for verb in verbs[0]} if verbs else {name}


def ours():
    apps = ("allocation", "queues", "pools", "atributo_site")
    found = {name for name, app in get_commands().items() if app in apps}
    return found - django_commands.CHANGING  # our `migrate` is recorded as Django's is


def test_every_command_is_in_the_table():
    walked = {line.split()[0] for line, _ in COMMANDS} | PROCESSES
    assert walked == ours()
    verbs = {" ".join(line.split()[:2]) for line, _ in COMMANDS} | {
        line.split()[0] for line, _ in COMMANDS
    }
    wanted = set().union(*(verbs_of(name) for name in ours() - PROCESSES))
    assert wanted - verbs == set()
    others = django_commands.CHANGING | django_commands.OPEN_ENDED | django_commands.HARMLESS
    assert set(get_commands()) - ours() == others


def note(name, words):
    """Note what the command has made, and make what a process of its own would have made by now."""
    if name == "push":
        words["job"] = QueuedJob.objects.get().pk
    if name == "batches":
        words["batch"] = Batch.objects.latest("pk").pk
    if name == "operations":
        words["operation"] = Operation.objects.latest("pk").pk
    if name == "pools" and Pool.objects.exists() and not Backend.objects.exists():
        a_backend_of_web()


def test_every_command_that_changes_something_names_the_user(prepared, transactions_of_others):
    words, missing = {**prepared, **transactions_of_others}, []
    for line, kind in [each for each in COMMANDS if each[1] is not NOTHING]:
        last = newest()
        arguments = [each.format(**words) if each != "{}" else each for each in line.split()]
        call_command(*arguments, stdout=StringIO(), stderr=StringIO())
        new = Event.objects.filter(pk__gt=last, actor=os_user(), channel="command")
        if not new.filter(kind=kind).exists():
            missing.append((line, kind, list(new.values_list("kind", flat=True))))
        note(arguments[0], words)
    assert missing == []


@pytest.mark.only_on("sqlite")  # each takes a process
@pytest.mark.parametrize(
    ("line", "facts"),
    [
        ("axes_reset", {"arguments": []}),
        ("axes_reset_ip 10.0.0.1", {"arguments": ["10.0.0.1"]}),
        ("clearsessions", {"arguments": []}),
        ("shell -c pass", {}),
    ],
)
def test_a_command_of_others_names_the_user_too(line, facts, manage):
    assert manage(*line.split()).returncode == 0
    event = Event.objects.get(kind="command.ran")
    assert (event.subject, event.actor) == (f"command:{line.split()[0]}", os_user())
    assert (event.channel, event.facts) == ("command", facts)


@pytest.mark.only_on("sqlite")
@pytest.mark.parametrize("line", ["axes_list_attempts", "axes_reset --help", "migrate --check"])
def test_one_that_only_asks_is_not_told(line, manage):
    manage(*line.split())
    assert not Event.objects.filter(kind="command.ran").exists()
