"""`--watch` beside a curator that moves jobs."""

import threading
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connections
from django.db.models.functions import Now

from allocation.atributo import Atributo
from allocation.models import Drain, Instance, Rebalance
from allocation.placement import drains
from allocation.repairs import MoveDrainsOn, move_rebalance_on
from atributo_site.core.leases import HeldLease
from atributo_site.core.models.clock import database_now

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def shown():
    """What the command has written to its standard error so far."""
    return StringIO()


@pytest.fixture
def curator(wait_until, shown):
    """Sweeps as soon as something is shown, until nothing is to be drained or rebalanced."""
    lease = HeldLease.take("curator", "test", 3600)

    def has_ended(rows):
        MoveDrainsOn()(database_now(), lease)
        move_rebalance_on(database_now(), lease)
        return rows.filter(done_at__isnull=False).exists()

    def sweep(rows):
        try:
            wait_until(shown.getvalue)
            wait_until(lambda: has_ended(rows))
        finally:
            connections.close_all()

    started = []

    def beside(rows):
        started.append(threading.Thread(target=sweep, args=[rows]))
        started[-1].start()

    yield beside
    for thread in started:
        thread.join(60)


def test_a_watched_drain_shows_its_progress_and_ends_when_it_is_done(curator, shown, capsys):
    ao = Atributo()
    ao.available("old")
    ao.allocate_many(f"job{n}" for n in range(10))
    ao.available("new")
    curator(Drain.objects.all())
    call_command("instances", "drain", "old", "--deadline", "1", "--watch", stderr=shown)
    assert "old: 0% done, 0 moved; left: 10 keys" in shown.getvalue()
    assert "old is drained with 0 keys. " in capsys.readouterr().out
    assert (Instance.objects.get(pk="old").drain.moved, len(ao.jobs("new"))) == (10, 10)


def test_watching_a_drain_that_runs_leaves_it_as_it_is(monkeypatch):
    Atributo().available("old")
    drains.drain("old", reason="heat", moves_per_minute=5, deadline_seconds=3600)
    before = Drain.objects.get()
    monkeypatch.setattr("time.sleep", lambda seconds: Drain.objects.update(done_at=Now()))
    call_command("instances", "drain", "old", "--watch")
    after = Drain.objects.get()
    assert (after.reason, after.moves_per_minute) == ("heat", 5)
    assert after.deadline_at == before.deadline_at


def test_a_watched_rebalance_ends_when_it_is_done(curator, shown, capsys):
    ao = Atributo()
    ao.available("old")
    ao.allocate_many(f"job{n}" for n in range(10))
    ao.available("new")
    curator(Rebalance.objects.all())
    call_command("rebalance", "--pace", "600", "--watch", stderr=shown)
    assert "checked" in shown.getvalue()
    moved = f"The rebalance is done: {len(ao.jobs('new'))} keys moved."
    assert moved in capsys.readouterr().out
