"""Where the demo's network listens, and what the site must permit for it."""

import socket
from collections.abc import Iterable

HOST = "127.0.0.1"
DOMAIN = "store.demo.invalid"
SERVERS = ("ann", "bob", "cleo")
TRIES = 50


def web_ports(port: int) -> list[int]:
    """Return the ports of the web servers, which follow that of the name server."""
    return [port + number for number in range(1, len(SERVERS) + 1)]


def free_block() -> int:
    """Return a port that is free for UDP while the next ones are free for TCP."""
    for _ in range(TRIES):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as first:
            first.bind((HOST, 0))
            port = first.getsockname()[1]
            if port < 65535 - len(SERVERS) and all(map(_is_free, web_ports(port))):
                return port
    raise OSError(f"no {len(SERVERS) + 1} ports in a row are free on {HOST}")


def _is_free(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def permits(port: int, servers: Iterable[str], targets: Iterable[str]) -> dict[str, str]:
    """Return the settings that let the site ask this name server and use its answers."""
    mine = [f"{HOST}/32:{each}" for each in web_ports(port)]
    return {
        "ATRIBUTO_DNS_SERVER_NETWORKS": ",".join([*servers, f"{HOST}/32:{port}"]),
        "ATRIBUTO_DNS_TARGET_NETWORKS": ",".join([*targets, *mine]),
    }
