"""Processes that die at a named point, what they were doing, and what must hold afterwards."""

import os
import threading
from dataclasses import replace
from datetime import timedelta

from django.conf import settings
from django.db import connections
from django.db.models import F

from allocation.transactions import Client, Transaction
from allocation.transactions.curator.expired import expired_transactions, free_orphaned_locks
from allocation.transactions.curator.invariants import INVARIANTS
from allocation.transactions.curator.repairs import OldVersions, remove_old_transactions
from allocation.transactions.models import Document, DocumentVersion, Lock, LockWait
from allocation.transactions.models import Transaction as Row
from atributo_site.core import failpoints
from atributo_site.core.leases import HeldLease
from atributo_site.core.models import Lease
from atributo_site.core.models.clock import database_now
from tests.servers.waiting import wait_until
from tests.transactions.engine.poison import poison

BEFORE = {"c/old": {"v": 0}, "c/doomed": {"v": 0}}
AFTER = {"c/old": {"v": 2}, "c/new": {"v": 1}, "p": [7]}


def dies_at(point, scenario):
    """Fork a process that runs the scenario with this point armed; its exit code."""
    connections.close_all()  # parent and child must not share one
    child = os.fork()
    if child == 0:
        _run_armed(point, scenario)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def _run_armed(point, scenario):
    code = 1
    try:
        failpoints._armed = point
        scenario()
        code = 0
    finally:
        os._exit(code)


def change(txn):
    txn.get("c", "old")
    txn.put("c", "old", {"v": 1})
    txn.put("c", "new", {"v": 1})
    txn.put("c", "old", {"v": 2})
    txn.delete("c", "doomed")
    txn.post("p", [7])
    txn.lock("c", "free")


def completing():
    txn = Transaction()
    change(txn)
    txn.renew()
    txn.complete()


def rolling_back():
    txn = Transaction()
    change(txn)
    txn.roll_back()


def curating():
    settings.ATRIBUTO = replace(settings.ATRIBUTO, lock_delay_ms=1)
    change(Transaction())
    expire_everything()
    leave_an_orphan()
    sweep()


def leave_an_orphan():
    """Make a lock that has outlived its transaction."""
    over = Transaction()
    over.complete()
    document = Document.objects.get(collection="c", key="old")
    Lock.objects.create(document=document, transaction_id=over.id, mode="shared", token=9)


def getting_stuck():
    txn = Transaction()
    txn.put("c", "old", {"v": 1})
    expire_everything()
    poison("allocation_document", "NEW.key = 'old'")
    sweep()


def waiting():
    holder = Transaction()
    holder.put("c", "old", {"v": 1})
    threading.Thread(target=roll_back_when_waited_for, args=[holder]).start()
    Transaction(wait=60).put("c", "old", {"v": 2})


def roll_back_when_waited_for(holder):
    wait_until(LockWait.objects.exists)
    holder.roll_back()


def writing_plainly():
    client = Client()
    client.put("c", "old", {"v": 1})
    client.put("c", "new", {"v": 1})
    client.delete("c", "doomed")


def sweep():
    """What a curator does, with a lease that nobody disputes."""
    lease = HeldLease.take("curator", "sweeper", 3600)
    now = database_now()
    expired_transactions(now, lease)
    free_orphaned_locks(now, lease)
    remove_old_transactions(now, lease)
    OldVersions()(now, lease)
    lease.release()


def expire_everything():
    past = timedelta(hours=1)
    Row.objects.unfinished().update(expires_at=F("expires_at") - past)


def recover():
    """Another curator comes, after the time of everything that died is over."""
    Lease.objects.filter(role="curator").update(holder="", expires_at=None)
    expire_everything()
    sweep()


def images():
    """Every document that is there; keys made by post are shown by their collection."""
    shown = {}
    for document in Document.objects.filter(present=True):
        name = document.collection if document.collection == "p" else str(document)
        shown[name] = document.value
    return shown


def assert_whole():
    """All or nothing, nothing left behind, and the history tells the present."""
    row = Row.objects.order_by("pk").last()
    completed = row is not None and row.status == "completed"
    assert images() == (AFTER if completed else BEFORE)
    assert_clean()


def assert_clean():
    assert [line for _, _, broken in INVARIANTS for line in broken()] == []
    assert not Row.objects.unfinished().exists()
    assert not Lock.objects.exists()
    assert not LockWait.objects.exists()
    for document in Document.objects.filter(present=True):
        versions = DocumentVersion.objects.not_undone().filter(document=document)
        last = versions.order_by("-pk").first()
        assert (last.ref, last.value) == (document.ref, document.value)
