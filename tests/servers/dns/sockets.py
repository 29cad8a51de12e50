"""Serve UDP and TCP on one loopback port by one thread; bytes in, replies out."""

import contextlib
import errno
import selectors
import socket
import struct
import threading

TRIES_FOR_A_PORT = 50


class DNSSockets:
    """Call `handle(wire, transport, send)` for every message until stopped."""

    def __init__(self, host, port, tcp, handle):
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._listener, self._udp = bind_pair(family, host, port)
        self._other = bind(family, socket.SOCK_DGRAM, host, 0)
        self._wake_reader, self._wake_writer = socket.socketpair()
        self._handle = handle
        self._connections = set()
        self.port = self._udp.getsockname()[1]
        self._selector = selectors.DefaultSelector()
        self._watch(self._udp, self._read_udp)
        self._watch(self._wake_reader, None)
        if tcp:  # a port that is bound but does not listen refuses connections
            self._listener.listen(128)
            self._watch(self._listener, self._accept)
        self._thread = threading.Thread(target=self._serve, name="dns-server", daemon=True)
        self._thread.start()

    def stop(self):
        self._wake_writer.send(b"x")
        self._thread.join()
        self._selector.close()
        own = {self._udp, self._other, self._listener, self._wake_reader, self._wake_writer}
        for end in own | self._connections:
            end.close()

    def _watch(self, end, action):
        self._selector.register(end, selectors.EVENT_READ, action)

    def _serve(self):
        while True:
            for key, _ in self._selector.select():
                if key.data is None:
                    return
                key.data()

    def _read_udp(self):
        wire, client = self._udp.recvfrom(65535)

        def send(reply):
            source = self._other if reply.from_other_port else self._udp
            with contextlib.suppress(OSError):  # the client has left
                source.sendto(reply.wire, client)

        self._handle(wire, "udp", send)

    def _accept(self):
        connection, _ = self._listener.accept()
        buffer = bytearray()
        self._connections.add(connection)
        self._watch(connection, lambda: self._read_tcp(connection, buffer))

    def _read_tcp(self, connection, buffer):
        chunk = receive(connection)
        buffer += chunk
        while connection in self._connections and (wire := take_message(buffer)):
            self._handle(wire, "tcp", lambda reply: self._send_tcp(connection, reply))
        if not chunk and connection in self._connections:
            self._close(connection)

    def _send_tcp(self, connection, reply):
        if reply.abort:
            reset_on_close = struct.pack("ii", 1, 0)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset_on_close)
            self._close(connection)
            return
        length = len(reply.wire) if reply.announced is None else reply.announced
        with contextlib.suppress(OSError):  # the client has left
            connection.sendall(struct.pack("!H", length) + reply.wire)
            if reply.then_close:
                connection.shutdown(socket.SHUT_RDWR)

    def _close(self, connection):
        self._connections.discard(connection)
        self._selector.unregister(connection)
        connection.close()


def bind_pair(family, host, port):
    """Bind a TCP and a UDP socket to the same port."""
    for _ in range(TRIES_FOR_A_PORT):
        listener = bind(family, socket.SOCK_STREAM, host, port)
        try:
            return listener, bind(family, socket.SOCK_DGRAM, host, listener.getsockname()[1])
        except OSError as error:
            listener.close()
            if port or error.errno != errno.EADDRINUSE:
                raise
    raise OSError(f"no port on {host} that is free for both UDP and TCP")


def bind(family, kind, host, port):
    end = socket.socket(family, kind)
    try:
        if kind == socket.SOCK_STREAM:
            end.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        end.bind((host, port))
    except OSError:
        end.close()
        raise
    return end


def receive(connection):
    try:
        return connection.recv(65535)
    except OSError:  # reset by the client
        return b""


def take_message(buffer):
    """Cut one message off the front of a TCP buffer; empty when it is not complete yet."""
    if len(buffer) < 2:
        return b""
    end = 2 + int.from_bytes(buffer[:2], "big")
    if len(buffer) < end:
        return b""
    wire = bytes(buffer[2:end])
    del buffer[:end]
    return wire
