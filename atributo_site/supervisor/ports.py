"""Bind the listening socket in the supervisor, so that a web restart refuses nobody."""

import errno
import socket

from atributo_site.core.errors import AtributoError

NEXT_PORTS = 50


class PortInUse(AtributoError):
    status_code = 409
    code = "port_in_use"


def listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    _send_at_once(listener)
    try:
        listener.bind((host, port))
    except OSError:
        listener.close()
        raise
    listener.listen(2048)
    listener.set_inheritable(True)
    return listener


def inherited(fd: int) -> socket.socket:
    """Return the listening socket that the supervisor or systemd has opened."""
    listener = socket.socket(fileno=fd)
    if listener.family in {socket.AF_INET, socket.AF_INET6}:
        _send_at_once(listener)
    return listener


def _send_at_once(listener: socket.socket) -> None:
    """Let its connections send small pieces without waiting for the other side.

    An answer is two writes; the second one would wait up to 40 ms for a delayed acknowledgement on
    a connection that is kept. asyncio sets the option only where the listener names its protocol.
    """
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def listen_or_offer(host: str, port: int, *, insist: bool) -> tuple[socket.socket, str]:
    """Return the socket and a remark; take the next free port unless the caller insists."""
    try:
        return listen(host, port), ""
    except OSError as error:
        other = _next_free(host, port) if error.errno == errno.EADDRINUSE else None
        if other is None:
            raise PortInUse(f"cannot listen on {host} port {port}: {error.strerror}.") from error
        free = other.getsockname()[1]
        if not insist:
            return other, f"Port {port} is in use by another program; using {free} instead."
        other.close()
        raise PortInUse(
            f"port {port} is in use by another program; {free} is free: ATRIBUTO_PORT={free}."
        ) from error


def _next_free(host: str, port: int) -> socket.socket | None:
    for candidate in range(port + 1, min(port + NEXT_PORTS, 65535) + 1):
        try:
            return listen(host, candidate)
        except OSError:
            continue
    return None
