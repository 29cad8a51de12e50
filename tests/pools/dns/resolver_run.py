"""Run a resolver in a test with scripted answers, a clock that jumps, and a log."""

import heapq
import itertools

from pools.logic.dns.config import ResolverConfig
from pools.logic.dns.lookup import Ask, Forget
from pools.logic.dns.reply import Record, Reply, Srv, lookup_result
from pools.logic.dns.resolver import Added, Removed, ResolverMachine, StateChanged, Updated
from pools.logic.dns.ttl import TtlLimits
from pools.logic.recovery import RecoverySpec

RECOVERY = {"default": {"timeout": 100, "retries": 3, "delay": 20}}
SRV = "_s._tcp.svc.x"
TIMEOUT = None
NXDOMAIN = Reply("NXDOMAIN")
NODATA = Reply("NOERROR")
NO_FLOOR = TtlLimits(floor_ms=1)


def a(name, *addresses, ttl=3600, rdtype="A"):
    return Reply("NOERROR", tuple(Record(name, rdtype, ttl, address) for address in addresses))


def aaaa(name, *addresses, ttl=3600):
    return a(name, *addresses, ttl=ttl, rdtype="AAAA")


def srv(*targets, ttl=3600, additional=()):
    """Return targets given as (name, port) or (name, port, priority, weight)."""
    records = tuple(
        Record(SRV, "SRV", ttl, Srv(*(rest or (0, 0)), port, name)) for name, port, *rest in targets
    )
    return Reply("NOERROR", records, additional=tuple(additional))


def soa(rcode, ttl, minimum):
    return Reply(rcode, authority=(Record("x", "SOA", ttl, minimum),))


class ResolverRun:
    """`zone` maps (name, rdtype) to a Reply, to TIMEOUT, or to {server: (after_ms, reply)}."""

    def __init__(self, zone=(), servers=("ns1",), has_ipv6=True, chance=lambda: 0.0, **options):
        self.zone = dict(zone)
        self.default = NXDOMAIN
        self.now = 0.0
        self.asked = []
        self.events = []
        self._replies = []
        self._forgotten = set()
        self._serial = itertools.count()
        options = {"recovery": RecoverySpec(options.pop("recovery", RECOVERY)), **options}
        options.setdefault("ttl", NO_FLOOR)
        config = ResolverConfig(domain="svc.x", service="_s._tcp", default_port=99, **options)
        self.machine = ResolverMachine(config, chance, servers, has_ipv6)

    def start(self, settle=True):
        self.do(self.machine.start(self.now))
        return self.advance(0 if not settle else 1) if settle else self

    def do(self, actions):
        for action in actions:
            match action:
                case Ask():
                    self.asked.append((self.now, action.name, action.rdtype, action.server))
                    self._schedule(action)
                case Forget():
                    self._forgotten.add(action.id)
                case Added() | Removed() | Updated() | StateChanged():
                    self.events.append(action)
        return self

    def advance(self, ms):
        """Let time pass, one event after the other."""
        until = self.now + ms
        while min(self.machine.wake_at, self._next_reply_at()) <= until:
            if self._next_reply_at() <= self.machine.wake_at:
                self.now, _, ask, reply = heapq.heappop(self._replies)
                if ask.id not in self._forgotten:
                    outcome = lookup_result(reply, ask.name, ask.rdtype)
                    self.do(self.machine.answer(ask.id, outcome, self.now))
            else:
                self.now = max(self.now, self.machine.wake_at)
                self.do(self.machine.tick(self.now))
        self.now = until
        return self

    def questions(self):
        """Return what was asked since the last call, without times and servers."""
        asked = [(name, rdtype) for _, name, rdtype, _ in self.asked]
        self.asked.clear()
        return asked

    def changes(self):
        """Return added and removed addresses since the last call."""
        found = [
            (type(event).__name__.lower(), f"{event.backend.address}:{event.backend.port}")
            for event in self.events
            if isinstance(event, Added | Removed)
        ]
        self.events.clear()
        return found

    @property
    def state(self):
        return self.machine.state

    @property
    def backends(self):
        return [f"{b.address}:{b.port}" for b in self.machine.backends.values()]

    def _schedule(self, ask):
        answer = self.zone.get((ask.name, ask.rdtype), self.default)
        after_ms = 0
        if isinstance(answer, dict):
            after_ms, answer = answer[ask.server]
        if answer is not TIMEOUT:
            entry = (self.now + after_ms, next(self._serial), ask, answer)
            heapq.heappush(self._replies, entry)

    def _next_reply_at(self):
        return self._replies[0][0] if self._replies else float("inf")
