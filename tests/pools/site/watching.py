"""Run a watcher in a test: real sockets and the real thread, with a clock that jumps."""

from functools import cache

from allocation.models import Instance
from atributo_site.core.leases import HeldLease
from atributo_site.core.models.clock import database_now
from pools import configuration
from pools.net.runtime.threads import ThreadDriver
from pools.watch.watcher import Watch

LONG_SECONDS = 60
DAY_MS = 86_400_000  # jumping through time must not look like silence
TIMEOUT_MS = 20_000  # longer than a machine stalls; where nobody answers it only jumps
SRV = "_http._tcp.svc.example"
RECOVERY = {"default": {"timeout": TIMEOUT_MS, "retries": 0, "delay": 5}}


class JumpingDriver(ThreadDriver):
    """Drive like the library's own driver; `advance` lets time pass at once."""

    def __init__(self):
        super().__init__()
        self._jumped_ms = 0.0

    def now(self):
        return super().now() + self._jumped_ms

    def advance(self, ms):
        self.call_soon(lambda: self._jump(ms))

    def _jump(self, ms):
        self._jumped_ms += ms


@cache
def the_driver():
    """Return one for all tests: a driver's thread lives as long as the process."""
    return JumpingDriver()


class Watching:
    """Run one watcher under a lease of its own; every wait ends with an answer, not a guess."""

    def __init__(self, server):
        self.server = server
        self.driver = the_driver()
        self.watch = Watch(self.driver, LONG_SECONDS, gather_ms=0, silence_ms=DAY_MS)
        self.lease = HeldLease.take("curator", "test", 600)

    def name(self, name="svc", **settings):
        values = {"domain": "svc.example", "recovery": RECOVERY, **settings}
        values.setdefault("nameservers", [f"{self.server.address}:{self.server.port}"])
        return configuration.watch(name, **values)

    def targets(self, *numbers, ttl=10):
        """Set t1 … tn, each with an address 10.0.0.n of its own."""
        self.server.set(SRV, "SRV", [(0, 0, 8000 + n, f"t{n}.example") for n in numbers], ttl)
        for n in numbers:
            self.server.set(f"t{n}.example", "A", [f"10.0.0.{n}"], ttl)

    def sweep(self):
        """Look new names up, and return when their first answers are applied."""
        return self.watch.sweep(database_now(), self.lease)

    def again(self, ms=12_500):
        """Let time pass so that every name is looked up, and apply the answers."""
        self.driver.advance(ms)
        assert self.watch.wait_for(list(self.watch.names.values()), LONG_SECONDS)
        return self.sweep()

    def in_vain(self, questions):
        """Do the same as `again` while nobody answers: each round of questions times out."""
        self.driver.advance(12_500)
        for count in questions:
            self.server.wait_for_queries(count)
            self.driver.advance(TIMEOUT_MS)
        assert self.watch.wait_for(list(self.watch.names.values()), LONG_SECONDS)
        return self.sweep()

    def stop(self):
        self.watch.stop()


def states():
    """Return instance → its state, in one word."""
    return {row.pk: row.state for row in Instance.objects.select_related("drain")}
