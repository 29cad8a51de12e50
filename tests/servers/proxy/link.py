"""Carry one connection through the proxy, by a thread between client and target."""

import selectors
import socket
import struct
import threading

SEND_SECONDS = 10  # a peer that reads nothing must not hold the thread for ever
SILENT = ("blackhole", "half_open")


class Link:
    def __init__(self, proxy, client):
        self._proxy = proxy
        self._client = client
        self._target = None
        self._forwarded = 0
        self._ended = set()  # sides that will send no more; they may still receive
        self._order = proxy.mode  # the last mode that was set
        self._wake_reader, self._wake_writer = socket.socketpair()
        self._selector = selectors.DefaultSelector()
        self._thread = threading.Thread(target=self._run, name="tcp-proxy-link", daemon=True)
        self._thread.start()

    def mode_changed(self, mode):
        """Let the thread see the new mode; a cut is done when this returns."""
        self._order = mode
        self._forwarded = 0
        try:
            self._wake_writer.send(b"x")
        except OSError:  # it has just ended by itself
            return
        if mode == "cut":
            self._thread.join(SEND_SECONDS)

    def _run(self):
        try:
            self._open()
            while self._is_open():
                for key, _ in self._selector.select():
                    self._read(key.fileobj)
        except OSError:  # a side is gone, or unreachable, or it is time to cut
            pass
        finally:
            self._end()

    def _open(self):
        self._selector.register(self._wake_reader, selectors.EVENT_READ)
        self._selector.register(self._client, selectors.EVENT_READ)
        self._client.settimeout(SEND_SECONDS)
        if self._order not in SILENT:
            self._target = connect(self._proxy.target)
            self._selector.register(self._target, selectors.EVENT_READ)
        self._obey()

    def _is_open(self):
        return not {self._client, self._target} <= self._ended

    def _read(self, source):
        if source is self._wake_reader:
            source.recv(4096)
            self._obey()
        elif source in self._ended:
            return  # closed by what came before it in the same round
        elif chunk := source.recv(65536):
            self._forward(chunk, source)
        else:
            self._end_of(source)

    def _obey(self):
        if self._order == "cut":
            raise ConnectionAbortedError("cut")
        if self._order == "half_open" and not is_gone(self._target):
            self._leave_target()

    def _leave_target(self):
        if self._target not in self._ended:
            self._selector.unregister(self._target)
        self._ended.add(self._target)
        self._target.close()

    def _forward(self, chunk, source):
        mode = self._proxy.mode
        sink = self._target if source is self._client else self._client
        if mode in SILENT or is_gone(sink):
            self._proxy.swallow(chunk)
            return
        if source is self._target and self._proxy.take_reply_to_cut(chunk):
            raise ConnectionAbortedError("cut the reply")
        if source is self._client and self._proxy.take_request_to_cut(chunk):
            raise ConnectionAbortedError("cut the request")
        if mode == "cut_after":
            self._forward_some(chunk, sink)
        elif mode == "drip":
            self._forward_slowly(chunk, sink)
        else:
            self._pause(mode)
            sink.sendall(chunk)

    def _forward_some(self, chunk, sink):
        room = self._proxy.cut_after_bytes - self._forwarded
        self._forwarded += len(chunk)
        sink.sendall(chunk[:room])
        if len(chunk) >= room:
            raise ConnectionAbortedError("cut after its bytes")

    def _forward_slowly(self, chunk, sink):
        for n in range(len(chunk)):
            self._pause("drip")
            sink.sendall(chunk[n : n + 1])

    def _pause(self, mode):
        if mode in ("delay", "drip"):
            self._proxy.pause(mode)
        if self._proxy.mode == "cut":  # meanwhile
            raise ConnectionAbortedError("cut")

    def _end_of(self, source):
        """Pass the end of one direction on; a silent client must not learn of the target's."""
        self._ended.add(source)
        self._selector.unregister(source)
        other = self._target if source is self._client else self._client
        if source is self._client and (is_gone(other) or self._proxy.mode in SILENT):
            raise ConnectionAbortedError("nobody is left")
        if self._proxy.mode not in SILENT:
            other.shutdown(socket.SHUT_WR)

    def _end(self):
        self._proxy.forget(self)
        cleanly = not self._is_open() and self._order != "half_open"
        for end in filter(None, (self._client, self._target)):
            end.close() if cleanly else reset(end)
        self._selector.close()
        self._wake_reader.close()
        self._wake_writer.close()


def is_gone(end):
    return end is None or end.fileno() == -1


def connect(target):
    if isinstance(target, tuple):
        return socket.create_connection(target, SEND_SECONDS)
    end = socket.socket(socket.AF_UNIX)
    try:
        end.settimeout(SEND_SECONDS)
        end.connect(target)
    except OSError:
        end.close()
        raise
    return end


def reset(end):
    """Close so that the other side reads a reset, not an end."""
    if end.fileno() != -1 and end.family != socket.AF_UNIX:
        end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    end.close()
