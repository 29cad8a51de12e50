"""What the text of a variable may be: each says in words what it wants."""

from atributo_site.variables import listed
from pools.logic.errors import InvalidInput
from pools.logic.hostport import parse_host_port
from pools.logic.permits import parse_permit


def database_url(text: str) -> str:
    if not text.startswith(("sqlite:///", "postgres://", "postgresql://")):
        raise ValueError("a URL that starts with sqlite:/// or postgresql://")
    return text


def redis_url(text: str) -> str:
    if text != "embedded" and not text.startswith(("redis://", "rediss://", "unix://")):
        raise ValueError("«embedded» or a URL that starts with redis://, rediss:// or unix://")
    return text


def worker_number(text: str) -> str:
    if text != "auto" and not (text.isascii() and text.isdigit()):
        raise ValueError("«auto» or a whole number")
    return text


def cluster_size(text: str) -> int:
    if text not in {"10", "100", "1000"}:
        raise ValueError("one of 10, 100, or 1000")
    return int(text)


def nameservers(text: str) -> tuple[str, ...]:
    try:
        found = [parse_host_port(server) for server in listed(text)]
    except InvalidInput as error:
        raise ValueError("addresses of nameservers, each with or without :PORT") from error
    if not all(server.is_ip for server in found):
        raise ValueError("addresses of nameservers, not names")
    return listed(text)


def networks(text: str) -> tuple[str, ...]:
    try:
        [parse_permit(network, None) for network in listed(text)]
    except InvalidInput as error:
        raise ValueError("networks such as 10.0.0.0/8, 127.0.0.1:5353 or [fd00::/8]:*") from error
    return listed(text)
