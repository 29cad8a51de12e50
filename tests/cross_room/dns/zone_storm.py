"""Change a watched zone at random, break its nameserver and kill curators; compare what results."""

import random

from allocation.atributo import Atributo
from allocation.models import Allocation
from atributo_site.core.models import Lease
from atributo_site.curator.integrity import all_rules
from pools.models import Backend, Pool
from tests.pools.site.watching import SRV, states

NETWORKS = {"ATRIBUTO_DNS_SERVER_NETWORKS": "127.0.0.0/8:*"}
QUICK = {
    "ATRIBUTO_CURATOR_HEARTBEAT_INTERVAL_MS": "200",
    "ATRIBUTO_CURATOR_HEARTBEAT_TIMEOUT_MS": "2000",
}
TARGETS = range(1, 7)
SETTLED_SECONDS = 120


class ZoneStorm:
    """`spawn` starts processes, `server` is the scriptable nameserver."""

    def __init__(self, server, spawn, wait_until, seed):
        self.server, self.spawn, self.wait_until = server, spawn, wait_until
        self.random = random.Random(seed)
        self.targets, self.ttl, self.serial = set(TARGETS), 1, 0
        self.curators = []
        self.broken = []
        self._answer()

    def begin(self):
        """Start two curators, and give every instance a key or two."""
        self._staff()
        self.settle()
        keys = Atributo().allocate_many([f"key{number}" for number in range(12)])
        self.homes = {key: found.instance_id for key, found in keys.items()}

    def leave(self):
        """Let some targets leave; one stays, or nobody would be left."""
        gone = self.random.choices(sorted(self.targets), k=2)
        self.targets = self.targets - set(gone) or {1}
        self._answer()

    def come_back(self):
        away = sorted(set(TARGETS) - self.targets)
        self.targets |= set(self.random.sample(away, min(len(away), 2)))
        self._answer()

    def flap(self):
        """Let one target leave and return at every other answer."""
        one = self.random.choice(sorted(self.targets))
        for _ in range(3):
            self.targets ^= {one}
            self.targets = self.targets or {1}
            self._answer()
            self._pass_look_ups(1)

    def never_keep(self):
        self.ttl = 0
        self._answer()
        self._pass_look_ups(2)
        self.ttl = 1

    def fail(self, mode):
        """Break every answer for some look-ups: nobody comes and nobody leaves."""
        self.settle()
        before = in_use()
        self.server.fault("*", "*", mode)
        self._pass_look_ups(3)
        if in_use() != before:
            self.broken.append((mode, before, in_use()))
        self.server.clear_faults()

    def servfail(self):
        self.fail("servfail")

    def nxdomain(self):
        self.fail("nxdomain")

    def silence(self):
        self.fail("drop")

    def kill_curator(self):
        """Kill the active one with -9 in the middle of a change."""
        self.leave()
        self._pass_look_ups(1)
        active = [each for each in self.curators if each.pid == active_pid()]
        for process in active:
            process.kill()
        self._staff()

    def settle(self):
        """Wait until the instances are those of the zone; no rule is broken by then."""
        self.wait_until(self._is_settled, SETTLED_SECONDS, self._story())
        self.broken += [(rule.name, rows) for rule in all_rules() if (rows := rule.broken())]

    def misplaced(self):
        """Return keys that are not where they were: a drain without a deadline moves none."""
        placed = dict(Allocation.objects.values_list("pk", "instance_id"))
        return {key: placed.get(key) for key in self.homes if placed.get(key) != self.homes[key]}

    def _is_settled(self):
        wanted = {address(number) for number in self.targets}
        found = states()
        available = {name for name, state in found.items() if state == "available"}
        leaving = {name for name, state in found.items() if state in ("draining", "drained")}
        return available == wanted and leaving == found.keys() - wanted

    def _answer(self):
        """Set the addresses first: whoever reads the names in between finds them all."""
        for number in TARGETS:
            self.server.set(f"t{number}.example", "A", [f"10.0.0.{number}"], self.ttl)
        records = [(0, 0, 80, f"t{number}.example") for number in sorted(self.targets)]
        self.server.set(SRV, "SRV", records, self.ttl)

    def _pass_look_ups(self, count):
        """Wait until the name has been asked so often again; each look-up begins with it."""
        wanted = self._asked() + count
        self.wait_until(lambda: self._asked() >= wanted, SETTLED_SECONDS)

    def _asked(self):
        return sum(name == SRV for name, _, _ in self.server.queries)

    def _staff(self):
        self.curators = [each for each in self.curators if each.is_running()]
        while len(self.curators) < 2:
            self.serial += 1
            name = f"c{self.serial}"
            self.curators.append(self.spawn("run_curator", "--name", name, env=NETWORKS | QUICK))
        self.wait_until(Lease.objects.held().filter(role="curator").exists)

    def _story(self):
        seen = {row.instance_id: row.state for row in Backend.objects.all()}
        row = Pool.objects.get()
        return f"zone {sorted(self.targets)}, seen {seen}, answer {row.answer}, {states()}"


def address(number):
    return f"10.0.0.{number}:80"


def in_use():
    return sorted(name for name, state in states().items() if state == "available")


def active_pid():
    holder = Lease.objects.held().filter(role="curator").values_list("holder", flat=True).first()
    return int(holder.split(":")[1]) if holder and ":" in holder else None
