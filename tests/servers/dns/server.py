"""Run a DNS server on real loopback sockets, with records and faults set by the test."""

import threading
from dataclasses import dataclass

import dns.exception
import dns.flags
import dns.message
import dns.rdatatype

from tests.servers.dns.exchange import Exchange
from tests.servers.dns.faults import MODES, plain
from tests.servers.dns.sockets import DNSSockets
from tests.servers.dns.zone import Zone


class DNSServer:
    """Answer over UDP and TCP on one port; `tcp=False` lets TCP connections be refused."""

    def __init__(self, host="127.0.0.1", port=0, tcp=True):
        self.address = host
        self.port = port
        self._tcp = tcp
        self._zone = Zone()
        self._faults = []
        self._held = []
        self._queries = []
        self._changed = threading.Condition()

    def __enter__(self):
        self._sockets = DNSSockets(self.address, self.port, self._tcp, self._handle)
        self.port = self._sockets.port
        return self

    def __exit__(self, *error):
        self._sockets.stop()

    def set(self, name, rdtype, values, ttl=60, additional=()):
        with self._changed:
            self._zone.set(name, rdtype, values, ttl, additional)

    def set_soa(self, zone, ttl, minimum):
        with self._changed:
            self._zone.set_soa(zone, ttl, minimum)

    def remove(self, name, rdtype):
        with self._changed:
            self._zone.remove(name, rdtype)

    def fault(self, name, rdtype, mode, times=None):
        """Break the next `times` answers, or all of them.

        Faults that match the same question take turns in the order they were set; one
        without `times` stays until it is cleared or set again.
        """
        if mode not in MODES:
            raise ValueError(f"no fault {mode}; there are {', '.join(MODES)}")
        new = Fault(plain_name(name), rdtype.upper(), mode, times)
        with self._changed:
            self._faults = [old for old in self._faults if not old.is_replaced_by(new)]
            self._faults.append(new)

    def clear_faults(self):
        with self._changed:
            self._faults.clear()

    def release(self):
        """Send every reply that a `slow` fault holds; later ones are held again."""
        with self._changed:
            held, self._held = self._held, []
        for send, reply in held:
            send(reply)

    @property
    def queries(self):
        with self._changed:
            return list(self._queries)

    def wait_for_queries(self, n, timeout=60):
        """Return the first n or more questions once they came; raise AssertionError otherwise."""
        with self._changed:
            if not self._changed.wait_for(lambda: len(self._queries) >= n, timeout):
                raise AssertionError(f"{len(self._queries)} of {n} queries after {timeout} s")
            return list(self._queries)

    def _handle(self, wire, transport, send):
        query = parse(wire)
        if query is None:
            return
        name = plain_name(query.question[0].name.to_text())
        rdtype = dns.rdatatype.to_text(query.question[0].rdtype)
        with self._changed:
            mode = self._next_mode(name, rdtype)
            replies = MODES.get(mode, plain)(Exchange(query, self._zone, transport))
            if mode == "slow":
                self._held += [(send, reply) for reply in replies]
            self._queries.append((name, rdtype, transport))
            self._changed.notify_all()
        if mode != "slow":
            for reply in replies:
                send(reply)

    def _next_mode(self, name, rdtype):
        fault = next((fault for fault in self._faults if fault.matches(name, rdtype)), None)
        if fault is None:
            return None
        if fault.times is not None:
            fault.times -= 1
        return fault.mode


@dataclass
class Fault:
    name: str
    rdtype: str
    mode: str
    times: int | None

    def matches(self, name, rdtype):
        return self.name in ("*", name) and self.rdtype in ("*", rdtype) and self.times != 0

    def is_replaced_by(self, new):
        return self.times is None and (self.name, self.rdtype) == (new.name, new.rdtype)


def plain_name(name):
    """Return a name as the tests write it: lower case, no dot at the end."""
    return name.lower().rstrip(".") or "."


def parse(wire):
    """Return the query in these bytes, or None for what a server should ignore."""
    try:
        query = dns.message.from_wire(wire)
    except dns.exception.DNSException:
        return None
    return query if query.question and not query.flags & dns.flags.QR else None
