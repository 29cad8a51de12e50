"""Run a TCP proxy that passes, delays, cuts or swallows what goes through it."""

import selectors
import socket
import threading

from tests.servers.proxy.link import Link, reset

MODES = (
    "pass",
    "refuse",  # new connections are closed at once; open ones live on
    "blackhole",  # connections are accepted, bytes are swallowed, nothing is ever answered
    "cut",  # open connections are reset now, new ones as soon as the target is reached
    "cut_reply",  # the next reply (with `reply_to_cut` in it, once one with `reply_before` has
    # passed) is lost and its connection reset, then all passes again, or `then` is the mode
    "cut_request",  # the next request with `request_to_cut` in it, in the same way
    "cut_after",  # each connection is reset after `cut_after_bytes` more, both ways together
    "delay",  # every chunk waits `delay_ms`
    "drip",  # every byte waits `delay_ms`
    "half_open",  # the target is left, while the client sees a connection that is only silent
)


class TCPProxy:
    """Stand before host and port, or before a Unix socket when no port is given."""

    def __init__(self, target_host, target_port=None):
        self.target = str(target_host) if target_port is None else (target_host, target_port)
        self.connections = 0
        self.swallowed_bytes = 0
        self.cut_after_bytes = 0
        self.reply_before = self.reply_to_cut = self.request_to_cut = b""
        self.then = "pass"
        self.delay_ms = 50
        self._mode = "pass"
        self._links = set()
        self._changed = threading.Condition()

    @property
    def mode(self):
        return self._mode

    @mode.setter
    def mode(self, mode):
        if mode not in MODES:
            raise ValueError(f"no mode {mode}; there are {', '.join(MODES)}")
        with self._changed:
            self._mode = mode
            links = list(self._links)
            self._changed.notify_all()
        for link in links:
            link.mode_changed(mode)

    def cut(self):
        """Reset open connections; the mode decides about new ones."""
        with self._changed:
            links = list(self._links)
        for link in links:
            link.mode_changed("cut")

    @property
    def open_connections(self):
        with self._changed:
            return len(self._links)

    def __enter__(self):
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.address, self.port = self._listener.getsockname()
        self._wake_reader, self._wake_writer = socket.socketpair()
        self._thread = threading.Thread(target=self._serve, name="tcp-proxy", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *error):
        self._wake_writer.send(b"x")
        self._thread.join()
        self.mode = "cut"
        for end in (self._listener, self._wake_reader, self._wake_writer):
            end.close()

    def _serve(self):
        with selectors.DefaultSelector() as selector:
            selector.register(self._listener, selectors.EVENT_READ)
            selector.register(self._wake_reader, selectors.EVENT_READ)
            while all(key.fileobj is self._listener for key, _ in selector.select()):
                self._accept(self._listener.accept()[0])

    def _accept(self, client):
        with self._changed:
            self.connections += 1
            self._changed.notify_all()
            if self._mode == "refuse":
                reset(client)
                return
            self._links.add(Link(self, client))

    def forget(self, link):
        with self._changed:
            self._links.discard(link)

    def swallow(self, chunk):
        with self._changed:
            self.swallowed_bytes += len(chunk)

    def take_reply_to_cut(self, chunk):
        """Return True for the one reply that `cut_reply` is meant for."""
        with self._changed:
            if self._mode not in ("cut_reply", "cut_request") or self._must_pass(chunk):
                return False
            return self._mode == "cut_reply" and self._takes(self.reply_to_cut in chunk)

    def take_request_to_cut(self, chunk):
        with self._changed:
            is_time = self._mode == "cut_request" and not self.reply_before
            return is_time and self._takes(self.request_to_cut in chunk)

    def _must_pass(self, chunk):
        waits = bool(self.reply_before)
        if self.reply_before in chunk:
            self.reply_before = b""
        return waits

    def _takes(self, is_meant):
        if is_meant:
            self._mode = self.then
        return is_meant

    def pause(self, mode):
        """Wait for the delay, or less when the mode changes meanwhile."""
        with self._changed:
            self._changed.wait_for(lambda: self._mode != mode, self.delay_ms / 1000)
