"""A server that keeps its connections, and a pool of connections to it."""

import socket
import threading
from contextlib import contextmanager

from pools import (
    ConnectionPool,
    StaticIpResolver,
)
from tests.pools.live import LONG

RECOVERY = {"default": {"timeout": 20_000, "retries": 1, "delay": 10, "max_delay": 50}}


class Echo:
    """Accepts connections and keeps them."""

    def __enter__(self):
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = self._listener.getsockname()[1]
        self.peers = []
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()
        return self

    def _accept(self):
        while True:
            peer, _ = self._listener.accept()
            if not self._listener_open:
                peer.close()
                return
            self.peers.append(peer)

    _listener_open = True

    def __exit__(self, *_):
        self._listener_open = False
        with socket.create_connection(("127.0.0.1", self.port)):
            self._thread.join()
        for end in [self._listener, *self.peers]:
            end.close()


def connect(backend, timeout_ms):
    return socket.create_connection((backend.address, backend.port), timeout_ms / 1000)


@contextmanager
def pooling(*ports, **options):
    backends = [{"address": "127.0.0.1", "port": port} for port in ports]
    resolver = StaticIpResolver(backends)
    resolver.start()
    options = {"constructor": connect, "recovery": RECOVERY, "spares": 2, "maximum": 4, **options}
    pool = ConnectionPool(**{"resolver": resolver, **options})
    try:
        yield pool
    finally:
        pool.stop(drain=0)
        pool.wait_for_state("stopped", timeout=LONG)
        resolver.stop()
