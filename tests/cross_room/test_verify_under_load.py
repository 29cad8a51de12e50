"""Rules hold on a healthy installation while it works hard."""

import random
import threading
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.db import connection

from allocation.atributo import Atributo
from allocation.instances import availability
from allocation.placement import drains
from allocation.transactions import Transaction
from allocation.transactions.errors import (
    CollectionKeyIsLocked,
    DeadlockDetected,
    RollbackCausedByException,
)
from allocation.transactions.models import Transaction as TransactionRow
from atributo_site.core.models.clock import database_now
from atributo_site.curator.integrity import all_rules
from queues.maintenance import invariants
from queues.models import QueuedJob

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def patient_rules(monkeypatch):
    """Let a slow machine break no rule."""
    monkeypatch.setattr(invariants, "LATE", timedelta(minutes=5))


def test_no_rule_breaks_under_load(queue, act, worker, spawn, wait_until, patient_rules):
    worker("north")
    spawn("run_curator", "--name", "healer")
    load = spawn("load_test", "--seconds", "0.7", "--clients", "3")
    queue.push_many(act, [None] * 300)
    is_over = False
    while not is_over:  # the last look comes after the load
        is_over = not load.is_running()
        assert {rule.name: rule.broken() for rule in all_rules() if rule.broken()} == {}
    assert load.wait() == 0, load.output()
    done = QueuedJob.objects.filter(queue__name="work", status="complete")
    wait_until(lambda: done.count() == 300)
    assert [row for rule in all_rules() for row in rule.broken()] == []


def test_the_demo_breaks_no_rule(transactional_db, patient_rules):
    call_command("seed_demo", "--force")
    assert {rule.name: rule.broken() for rule in all_rules() if rule.broken()} == {}


class Storm:
    """Threads that write, wait, roll back, allocate, drain and restore, as often as told."""

    def __init__(self, rounds):
        self.rounds, self.failures = rounds, []
        acts = [self.write, self.write, self.write, self.allocate, self.drain]
        self.threads = [
            threading.Thread(target=self._run, args=(act, seed)) for seed, act in enumerate(acts)
        ]

    def __enter__(self):
        for name in ("one", "two", "three"):
            availability.make_available(name)
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *error):
        for thread in self.threads:
            thread.join()

    def is_over(self):
        return not any(thread.is_alive() for thread in self.threads)

    def write(self, chance):
        """Write some of few keys, so that most wait for one another; roll every other one back."""
        txn = Transaction(wait=chance.choice([0, 0.2]))
        try:
            for key in chance.sample("abcdef", 3):
                txn.put("storm", key, {"v": chance.random()})
        except (RollbackCausedByException, CollectionKeyIsLocked, DeadlockDetected):
            return
        txn.complete() if chance.random() < 0.5 else txn.roll_back()

    def allocate(self, chance):
        Atributo().allocate(f"key{chance.randrange(50)}")
        Atributo().deallocate(f"key{chance.randrange(50)}")

    def drain(self, chance):
        name = chance.choice(["one", "two"])
        drains.drain(name, deadline_seconds=0)
        drains.step(name, database_now())
        availability.make_available(name)

    def _run(self, act, seed):
        chance = random.Random(seed)
        try:
            for _ in range(self.rounds):
                act(chance)
        except Exception as error:
            self.failures.append(repr(error))
        finally:
            connection.close()


@pytest.mark.parametrize("rounds", [25, pytest.param(1500, marks=pytest.mark.soak)])
def test_no_rule_breaks_in_a_storm_of_roll_backs_and_drains(rounds, transactional_db):
    broken = []
    with Storm(rounds) as storm:
        while not storm.is_over():
            broken += [(rule.name, rule.broken()) for rule in all_rules() if rule.broken()]
    assert (storm.failures, broken) == ([], [])
    assert [rule.name for rule in all_rules() if rule.broken()] == []
    ended = set(TransactionRow.objects.values_list("status", flat=True))
    assert ended >= {"completed", "rolled_back"}
