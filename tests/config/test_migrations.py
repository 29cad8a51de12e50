"""Every older state of the tables becomes the one that a new installation gets."""

import os
from dataclasses import replace
from urllib.parse import urlsplit

import psycopg
import pytest
from django.apps import apps as current
from django.conf import settings
from django.contrib.auth.models import Group
from django.core.management import call_command
from django.db import connection, connections
from django.db.migrations.recorder import MigrationRecorder
from django.utils.timezone import now

from atributo_site.config import databases
from atributo_site.curator.integrity import all_rules
from atributo_site.status.migrations import NotMigrated, check_migrated
from atributo_site.supervisor import startup
from queues.maintenance.repairs import Turns
from tests.config.schema import schema
from tests.factories.old_states import forget_squashed, migrate_to
from tests.servers.postgres import shared

FIRST = {
    "allocation": "0001_foundation",
    "queues": "0001_queues",
    "pools": "0001_pools",
    "atributo_site": "0001_foundation",
}
MIDDLE = FIRST | {
    "allocation": "0006_rebalance",
    "queues": "0008_paused_jobs",
    "atributo_site": "0002_roles",
}
LAST = {
    "allocation": "0017_past_allocations_by_place",
    "queues": "0021_flows_of_stations",
    "pools": "0002_what_was_answered",
    "atributo_site": "0008_incident_cures",
}
STATES = pytest.mark.parametrize("state", [FIRST, MIDDLE, LAST], ids=["first", "middle", "last"])


@pytest.fixture
def new_installation(transactional_db):
    """Return the facts of a database that only the squashed migrations have made."""
    return facts()


@pytest.fixture
def empty_database(database, new_installation, migrated_database, tmp_path):
    """Point the default connection at a database without tables."""
    name = f"empty_{os.getpid()}_{tmp_path.name}"[:60]  # a server for many processes
    url = f"sqlite:///{tmp_path}/empty.sqlite3"
    if database == "postgresql":
        on_server(f'CREATE DATABASE "{name}"')
        url = urlsplit(shared.url())._replace(path=f"/{name}").geturl()
    entry = databases.configured(replace(settings.ATRIBUTO, database_url=url), tmp_path)
    connections.settings["default"] = connections.configure_settings({"default": entry})["default"]
    connections["default"] = connections.create_connection("default")
    yield
    connection.close()
    migrated_database.select()
    if database == "postgresql":
        on_server(f'DROP DATABASE "{name}"')


def on_server(statement):
    with psycopg.connect(shared.url(), autocommit=True) as server:
        server.execute(statement)


@STATES
def test_an_older_state_becomes_that_of_a_new_installation(state, new_installation, empty_database):
    historic = migrate_to(state.items())
    forget_squashed()
    fill(historic, state)
    is_older = state is not LAST  # the last state lacks only the records of the squashed
    assert (has_pending(state), is_refused()) == (is_older, is_older)
    call_command("migrate", verbosity=0, interactive=False)
    assert facts() == new_installation
    assert {job.id: (job.rank, job.resets) for job in rows_of("queues.QueuedJob")} == {
        1: (0, 2),  # ran three times although it was to run once: it was reset
        2: (10 if state is LAST else 30, 0),  # sticky: the curator gives the turn
        3: (-3, 0),  # a callback
        **({4: (10, 0), 5: (10, 0)} if state is MIDDLE else {}),  # of one key, and held
    }
    assert set(
        rows_of("queues.QueuedJob").filter(concurrent=True).values_list("pk", flat=True)
    ) == ({4, 5} if state is MIDDLE else set())
    assert [version.undone for version in rows_of("allocation.DocumentVersion")] == (
        [] if state is FIRST else [False, True]
    )
    assert [pool.answer for pool in rows_of("pools.Pool")] == [[]]
    Turns().mend(now(), None)
    assert [row for rule in all_rules() for row in rule.broken()] == []


def test_a_start_records_the_squashed_ones_where_nothing_is_left_to_apply(new_installation):
    forget_squashed()
    assert startup.migrate() is False
    assert facts() == new_installation


def has_pending(apps):
    return any(name.partition(".")[0] in apps for name in startup.pending_migrations())


def is_refused():
    """Return whether a command that runs for ever refuses to start on these tables."""
    try:
        check_migrated()
    except NotMigrated:
        return True
    return False


def facts():
    """Return the schema, the history and the rows that migrations have made."""
    history = MigrationRecorder(connection).applied_migrations()
    groups = Group.objects.values_list("name", "permissions__codename")
    return {
        "schema": schema(),
        "history": sorted(history),
        "groups": sorted(groups),
        "queues": [(each.id, each.name) for each in rows_of("queues.Queue")],
        "slots": [(each.id, each.queue_id, each.number) for each in rows_of("queues.Slot")],
        "catalogue": [(each.id, each.revision) for each in rows_of("queues.Catalogue")],
    }


def rows_of(model):
    return current.get_model(model).objects.order_by("pk")


def fill(historic, state):
    """Put rows into the old tables, as the old releases wrote them."""

    def make(model, **values):
        return historic.get_model(model).objects.create(**values)

    make("allocation.Event", actor="ada", channel="rest", kind="x.y", subject="x:1")
    pool = make("pools.Pool", name="p", domain="svc.example")
    where = {"address": "10.0.0.1", "port": 80, "instance_id": "10.0.0.1:80"}
    make("pools.Backend", pool=pool, key="k", name="n", **where)
    fill_jobs(make, state)
    if state is not FIRST:
        fill_documents(make, {"undone": True} if state is LAST else {})


def fill_jobs(make, state):
    job = {"queue_id": 1, "mount": "/m", "script": "s"}
    ended = {"status": "complete", "started_at": now(), "ended_at": now(), "attempt": 3, "runs": 3}
    resets = {"resets": 2} if state is LAST else {}
    make("queues.QueuedJob", id=1, **job, **ended, **resets)
    facts = {"worker": "w", "outcome": "complete", "started_at": now(), "ended_at": now()}
    for attempt in (1, 2, 3):
        make("queues.Run", job_id=1, attempt=attempt, number=attempt, **facts)
    make("queues.QueuedJob", id=2, **job, sticky_key="k", rank=0 if state is FIRST else 10)
    callback = {"parent": 1, "parent_run": 1, "rank": -3 if state is LAST else 0}
    make("queues.QueuedJob", id=3, **job, **callback)
    if state is MIDDLE:
        held = {"sticky_key": "k", "rank": 10, "routed_to": "a", "routed_epoch": 1}
        held |= {"slot_id": 1, "slot_epoch": 0}
        make("queues.QueuedJob", id=4, **job, **held)
        make("queues.QueuedJob", id=5, **job, **held)


def fill_documents(make, undone):
    document = make("allocation.Document", collection="c", key="k", present=True, ref="1")
    ended = {"status": "rolled_back", "epoch": 2, "finished_at": now()}
    rolled_back = make("allocation.Transaction", limit_at=now(), expires_at=now(), **ended)
    wrote = {"document": document, "transaction": rolled_back}
    line = {"before_present": True, "before_ref": "1", "after_ref": "2", "undo": "restored"}
    make("allocation.JournalEntry", action="put", **wrote, **line)
    make("allocation.DocumentVersion", document=document, ref="1", present=True)
    make("allocation.DocumentVersion", ref="2", present=True, **wrote, **undone)
