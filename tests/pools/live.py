"""Helpers for tests with real sockets: every wait ends with an event, never after a guess."""

import threading
from contextlib import contextmanager

from pools import DNSResolver

RECOVERY = {"default": {"timeout": 10_000, "retries": 1, "delay": 5}}
# For silent servers. Each try waits twice as long: a busy machine answers the last one.
IMPATIENT = {"default": {"timeout": 200, "retries": 3, "delay": 5}}
LONG = 60_000
SRV = "_http._tcp.svc.example"


class Updates:
    """Counts the passes of a resolver."""

    def __init__(self, resolver):
        self._resolver = resolver
        self._changed = threading.Condition()
        self.errors = []
        resolver.on("updated", self._updated)

    def _updated(self, error):
        with self._changed:
            self.errors.append(error)
            self._changed.notify_all()

    def next(self, trigger):
        """Do something and return the error of the pass that follows, None if it was good."""
        before = len(self.errors)
        trigger()
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.errors) > before, LONG / 1000)
            return self.errors[before]


@contextmanager
def resolving(*servers, **options):
    """Return a resolver for svc.example that asks these servers and never waits for a TTL floor."""
    options = {"recovery": RECOVERY, "has_ipv6": False, "ttl_floor": 1, **options}
    options.setdefault("resolvers", [f"{server.address}:{server.port}" for server in servers])
    resolver = DNSResolver(options.pop("domain", "svc.example"), **options)
    try:
        yield resolver
    finally:
        resolver.stop()


def started(resolver):
    """Return the state after the first pass, when all of its events have come, too."""
    passed = threading.Event()
    resolver.on("updated", lambda error: passed.set())
    resolver.start()
    assert passed.wait(LONG / 1000)
    return resolver.wait_for_state("running", "failed", timeout=LONG)


def addresses(resolver):
    return sorted(f"{b.address}:{b.port}" for b in resolver.list().values())
