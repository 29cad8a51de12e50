"""`--watch` beside a curator that moves jobs."""

import threading

import pytest
from django.core.management import call_command
from django.db import connections

from allocation.atributo import Atributo
from allocation.leases import HeldLease
from allocation.models import Drain, Instance, Rebalance
from allocation.models.clock import database_now
from allocation.repairs import MoveDrainsOn, move_rebalance_on

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def curator(wait_until):
    """Sweeps until there is nothing to drain or to rebalance any more."""
    lease = HeldLease.take("curator", "test", 3600)

    def has_ended(rows):
        MoveDrainsOn()(database_now(), lease)
        move_rebalance_on(database_now(), lease)
        return rows.filter(done_at__isnull=False).exists()

    def sweep(rows):
        try:
            wait_until(lambda: has_ended(rows), timeout=60)
        finally:
            connections.close_all()

    started = []

    def beside(rows):
        started.append(threading.Thread(target=sweep, args=[rows]))
        started[-1].start()

    yield beside
    for thread in started:
        thread.join(60)


def test_a_watched_drain_shows_its_progress_and_ends_when_it_is_done(curator, capsys):
    ao = Atributo()
    ao.available("old")
    ao.allocate_many(f"job{n}" for n in range(10))
    ao.available("new")
    curator(Drain.objects.all())
    call_command("instances", "drain", "old", "--deadline", "1", "--watch")
    said = capsys.readouterr()
    assert "old: 0% done, 0 moved; left: 10 sticky keys" in said.err
    assert "old is drained with 0 job ids. " in said.out
    assert (Instance.objects.get(pk="old").drain.moved, len(ao.jobs("new"))) == (10, 10)


def test_a_watched_rebalance_ends_when_it_is_done(curator, capsys):
    ao = Atributo()
    ao.available("old")
    ao.allocate_many(f"job{n}" for n in range(10))
    ao.available("new")
    curator(Rebalance.objects.all())
    call_command("rebalance", "--pace", "600", "--watch")
    said = capsys.readouterr()
    assert "looked at" in said.err
    assert f"The rebalance is done: {len(ao.jobs('new'))} job ids moved." in said.out
