"""A late writer of any kind changes no row, and is counted."""

import pytest

from allocation.atributo import Atributo
from allocation.errors import EpochChanged
from allocation.placement import operations
from allocation.transactions.errors import JobIsRolledBack
from allocation.transactions.models import Document
from atributo_site.core.fencing import fenced
from queues.errors import AttemptIsOver
from queues.execution.scope import GuardedClient, RunTransaction
from queues.logic.lifecycle import Status
from queues.models import HeldPush, QueuedJob
from queues.runs.attempt import Attempt
from queues.runs.reservation import reserve
from queues.runs.slots import acquire


@pytest.fixture
def zombie(bank, expire_leases, sweep):
    """Make an attempt with an open transaction, and a way to declare it lost."""

    class Zombie:
        job = bank.push()
        slot = acquire("money", 0, "zombie")
        attempt = reserve(slot, 1).jobs[0].attempt_in(slot)
        txn = RunTransaction(attempt, "job", wait=0.0, dry=False)

        def is_lost(self):
            expire_leases()
            sweep()

    return Zombie()


def test_a_write_of_a_lost_attempt_is_refused_and_counted(bank, zombie):
    zombie.txn.put("bank_accounts", "ada", {"balance": 1})
    zombie.is_lost()
    with pytest.raises(JobIsRolledBack):
        zombie.txn.put("bank_accounts", "grace", {"balance": 1})
    assert bank.balances() == [1000, 1000]
    assert fenced()["transaction"]["refused"] == 1


def test_a_lost_attempt_cannot_complete_what_nobody_has_rolled_back_yet(bank, zombie):
    zombie.txn.put("bank_accounts", "ada", {"balance": 1})
    QueuedJob.objects.update(slot=None, slot_epoch=None)
    with pytest.raises(AttemptIsOver):
        zombie.txn.complete()
    assert Document.objects.get(key="ada").locks.exists()
    assert fenced()["attempt"]["refused"] == 1


def test_a_lost_attempt_cannot_begin_another_transaction(zombie):
    zombie.is_lost()
    with pytest.raises(AttemptIsOver):
        RunTransaction(zombie.attempt, "job", wait=0.0, dry=False)
    assert fenced()["attempt"]["refused"] == 1


def test_after_a_zombie_the_run_happens_once(bank, zombie, hands):
    zombie.txn.put("bank_accounts", "ada", {"balance": 1})
    zombie.is_lost()
    hands.drain()
    assert zombie.job.status == "complete" and bank.balances() == [990, 1010]


def test_a_push_of_a_lost_attempt_never_becomes_a_job(bank, zombie, sweep):
    zombie.txn.push("money", bank.script, bank.order())
    assert HeldPush.objects.count() == 1
    zombie.is_lost()
    assert not HeldPush.objects.exists()
    assert QueuedJob.objects.filter(status=Status.PENDING).count() == 1


def test_an_old_attempt_is_told_from_the_next_by_its_hold(zombie):
    zombie.is_lost()
    again = Attempt(int(zombie.job.id), 1, zombie.slot.id, zombie.slot.epoch + 1)
    with pytest.raises(AttemptIsOver):
        RunTransaction(again, "job", wait=0.0, dry=False)


@pytest.mark.parametrize(
    "write",
    [
        lambda client: client.put("bank_accounts", "ada", {"balance": 1}),
        lambda client: client.post("bank_accounts", {"balance": 1}),
        lambda client: client.delete("bank_accounts", "ada"),
        lambda client: client.patch_merge("bank_accounts", "ada", {"balance": 1}),
    ],
)
def test_a_lost_attempt_writes_nothing_outside_a_transaction_either(bank, zombie, write):
    client = GuardedClient(zombie.attempt)
    assert client.put("notes", "1", {"before": True}).ok
    zombie.is_lost()
    with pytest.raises(AttemptIsOver):
        write(client)
    assert bank.balances() == [1000, 1000]
    assert Document.objects.filter(collection="bank_accounts").count() == 2
    assert fenced()["attempt"]["refused"] == 1


def test_an_old_epoch_of_an_allocation_is_refused_and_counted(bank):
    Atributo().available("worker")
    old = Atributo().allocate("key")
    epoch = Atributo().allocation("key").epoch
    with pytest.raises(EpochChanged):
        operations.deallocate("key", epoch=epoch - 1)
    assert Atributo().instance("key") == old.instance_id
    assert fenced()["allocation"]["refused"] == 1
