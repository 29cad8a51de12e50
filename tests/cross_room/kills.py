"""Kill a worker in the middle of a transfer, and check what an observer sees meanwhile."""

import os
import random
import signal
import time
from contextlib import suppress

import psutil

from allocation.transactions.engine.transaction import Transaction
from allocation.transactions.errors import RollbackCausedByException
from queues.models import Slot
from tests.queues.worker.standstill import stop_between_writes

AMOUNT = 10
ACCOUNTS = ("ada", "grace")


class Kills:
    """`start_worker(name)` starts one more process; `sweep()` does what a curator does."""

    def __init__(self, bank, start_worker, sweep, wait_until, expire, seed):
        self.bank, self.start_worker = bank, start_worker
        self.sweep, self.wait_until, self.expire = sweep, wait_until, expire
        self.random = random.Random(seed)
        self.workers = []
        self.broken = []
        self.serial = 0
        self._staff()

    def strike(self, how):
        """Run one transfer and hit it at a random moment; it ends complete, once."""
        order = self.bank.order(amount=AMOUNT, pause_ms=self.random.choice([0, 5, 20, 60]))
        job = self.bank.push(order=order, max_failures=-1, back_off=0)
        self._look_for(self.random.uniform(0, 0.2))
        struck = getattr(self, how)()
        self._look()
        self.wait_until(lambda: self._ends(job), 60, f"{job!r} did not complete after {how}")
        if struck is not None:
            struck.send_signal(signal.SIGCONT)

    def child(self):
        for process in psutil.Process(self._holder().pid).children():
            with suppress(psutil.NoSuchProcess):  # ended by its worker, which had lost its slot
                process.kill()

    def worker(self):
        struck = self._holder()
        struck.kill()
        self.expire(struck)

    def stop(self):
        """Stop it for longer than its lease, so that it loses its slot and returns as a zombie."""
        struck = stop_between_writes(self._holder)
        self.expire(struck)
        return struck

    def images(self):
        """Yield both accounts as one observer sees them; None while somebody changes them."""
        txn = Transaction(owner="onlooker")
        try:
            seen = [txn.get("bank_accounts", name, shared=True).json for name in ACCOUNTS]
        except RollbackCausedByException:
            return None
        txn.roll_back()
        return seen

    def _look(self):
        seen = self.images()
        if seen is not None and not is_whole(*seen):
            self.broken.append(seen)

    def _look_for(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self._look()

    def _ends(self, job):
        self._staff()
        self.sweep()
        self._look()
        return job.status == "complete"

    def _staff(self):
        self.workers = [worker for worker in self.workers if worker.is_running()]
        while len(self.workers) < 2:
            self.serial += 1
            self.workers.append(self.start_worker(f"w{self.serial}"))

    def _holder(self):
        """Return the worker that has the slot, or any when none has."""
        held = Slot.objects.exclude(holder="").values_list("holder", flat=True).first()
        pid = int(held.split(":")[1]) if held else None
        found = [worker for worker in self.workers if worker.pid == pid]
        return found[0] if found else self.random.choice(self.workers)


def is_whole(ada, grace):
    """Return True before or after a transfer, never in between."""
    transfers = ada["transfers"]
    balances = [ada["balance"], grace["balance"]]
    moved = AMOUNT * transfers
    return grace["transfers"] == transfers and balances == [1000 - moved, 1000 + moved]


def seed():
    chosen = int(os.environ.get("KILL_SEED", random.randrange(10**6)))
    print(f"KILL_SEED={chosen}")
    return chosen
