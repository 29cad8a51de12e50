"""Killed clients leave no lock and no half change; tokens only grow and no count gets lost."""

import os
import random
from collections import Counter

import pytest

from allocation.transactions import Client
from allocation.transactions.models import JournalEntry, Lock, LockWait
from allocation.transactions.models import Transaction as Row
from atributo_site.core.models import Lease
from atributo_site.curator.integrity import all_rules
from tests.cross_room.locks.client import KEYS

pytestmark = pytest.mark.django_db(transaction=True)
QUICK = {"ATRIBUTO_MAX_JOB_TIME_MS": "3000", "ATRIBUTO_ADDITIONAL_TIMEOUT_WAIT_MS": "0"}
SECONDS = 180


class Clients:
    def __init__(self, spawn, wait_until, path, seed):
        self.spawn, self.wait_until, self.path = spawn, wait_until, path
        self.random = random.Random(seed)
        self.running = [self.start() for _ in range(3)]

    def start(self):
        call = f"main({str(self.path)!r}, {self.random.random()})"
        code = f"from tests.cross_room.locks.client import main; {call}"
        return self.spawn("shell", "-c", code, env=QUICK)

    def kill_one(self):
        """Kill a client with -9 a few transactions after the last kill, and start another one."""
        wanted = len(self.told("done")) + self.random.randint(1, 5)
        self.wait_until(lambda: len(self.told("done")) >= wanted, SECONDS)
        struck = self.running.pop(0)
        struck.kill()
        self.running.append(self.start())

    def kill_all(self):
        for process in self.running:
            process.kill()
        self.wait_until(lambda: not is_open(), SECONDS, "something is open")

    def told(self, word):
        lines = self.path.read_text().splitlines() if self.path.exists() else []
        return [line.split()[1:] for line in lines if line.startswith(word)]


def is_open():
    return Row.objects.unfinished().exists() or LockWait.objects.exists()


@pytest.fixture
def clients(spawn, wait_until, tmp_path):
    seed = int(os.environ.get("LOCK_SEED", random.randrange(10**6)))
    print(f"LOCK_SEED={seed}")
    for key in KEYS:
        Client().put("locks", key, 0).raise_for_status()
    spawn("run_curator", "--name", "healer", env=QUICK)
    wait_until(Lease.objects.held().filter(role="curator").exists)
    return Clients(spawn, wait_until, tmp_path / "told", seed)


def check(clients):
    clients.kill_all()
    ended = Row.objects.filter(status="completed").values_list("pk", flat=True)
    completed = {str(pk) for pk in ended}
    done = {pk for (pk,) in clients.told("done")}
    tried = {pk for (pk,) in clients.told("try")}
    assert done <= completed <= tried
    lines = JournalEntry.objects.filter(transaction__status="completed")
    counted = Counter(lines.values_list("document__key", flat=True))
    assert {key: Client().get("locks", key).json for key in KEYS} == {
        key: counted[key] for key in KEYS
    }
    tokens = Counter((key, token) for key, token, _ in clients.told("token"))
    assert {token: times for token, times in tokens.items() if times > 1} == {}
    assert not Lock.objects.exists()
    assert {rule.name: rows for rule in all_rules() if (rows := rule.broken())} == {}


def test_killed_clients_leave_no_lock_and_lose_no_count(clients):
    for _ in range(4):
        clients.kill_one()
    check(clients)


@pytest.mark.soak
def test_a_hundred_killed_clients(clients):
    """LOCK_KILLS sets the number, LOCK_SEED when."""
    for number in range(int(os.environ.get("LOCK_KILLS", "100"))):
        clients.kill_one()
        print(number + 1, end=" ", flush=True)
    check(clients)
