"""One DNS transport for each driver, shared by all its resolvers."""

import threading
from weakref import WeakKeyDictionary

from pools.net.dns_transport import DNSTransport
from pools.net.driver import Driver

_transports: WeakKeyDictionary[Driver, DNSTransport] = WeakKeyDictionary()
_lock = threading.Lock()


def transport_of(driver: Driver) -> DNSTransport:
    with _lock:
        if driver not in _transports:
            _transports[driver] = DNSTransport(driver)
        return _transports[driver]
