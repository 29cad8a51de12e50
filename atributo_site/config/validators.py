"""Check the text of each variable; the error says in words what it must be."""

import ipaddress
from urllib.parse import urlsplit

from atributo_site.config.variables import listed
from pools.logic.dns.address_policy import parse_permit
from pools.logic.dns.names import parse_host_port
from pools.logic.errors import InvalidInput
from queues.logic.queue_choice import parsed

# A password may hold a character that ends it here; the rest is then taken for a port.
A_URL = "a URL whose parts can be read (in a password, / is %2F, @ is %40 and # is %23), such as "


def database_url(text: str) -> str:
    if not text.startswith(("sqlite:///", "postgres://", "postgresql://")):
        raise ValueError("a URL that starts with sqlite:/// or postgresql://")
    if ":memory:" in text:
        raise ValueError("a database that several processes can share, not one in memory")
    try:
        urlsplit(text).port  # noqa: B018 – refuses what is no port
    except ValueError as error:
        raise ValueError(f"{A_URL}postgresql://user:password@host:5432/NAME") from error
    return text


def redis_url(text: str) -> str:
    if text != "embedded" and not text.startswith(("redis://", "rediss://", "unix://")):
        raise ValueError("'embedded' or a URL that starts with redis://, rediss:// or unix://")
    if text != "embedded":
        _try_redis(text)
    return text


def _try_redis(url: str) -> None:
    """Make a client as a process would, but do not connect it."""
    import redis  # many processes never talk to it

    try:
        connection = redis.Redis.from_url(url).connection_pool.make_connection()
    except (ValueError, TypeError) as error:  # the latter for an unknown option
        raise ValueError(f"{A_URL}redis://user:password@host:6379/0") from error
    if getattr(connection, "path", "given") == "":
        raise ValueError("a URL with the path of a socket, as unix:///run/valkey.sock")


def worker_number(text: str) -> str:
    if text != "auto" and not (text.isascii() and text.isdigit() and len(text) < 20):
        raise ValueError("'auto' or a whole number")
    return text


def cluster_size(text: str) -> int:
    if text not in {"10", "100", "1000"}:
        raise ValueError("one of 10, 100, or 1000")
    return int(text)


def nameservers(text: str) -> tuple[str, ...]:
    try:
        servers = [parse_host_port(server) for server in listed(text)]
    except InvalidInput as error:
        raise ValueError("addresses of nameservers, each with or without :PORT") from error
    if not all(server.is_ip for server in servers):
        raise ValueError("addresses of nameservers, not names")
    return listed(text)


def networks(text: str) -> tuple[str, ...]:
    try:
        [parse_permit(network, None) for network in listed(text)]
    except InvalidInput as error:
        raise ValueError("networks such as 10.0.0.0/8, 127.0.0.1:5353 or [fd00::/8]:*") from error
    return listed(text)


def hosts(text: str) -> tuple[str, ...]:
    """Refuse a host with a scheme or a port: no request's host would ever be equal to it."""
    for host in listed(text):
        if "/" in host or (":" in host and not (host[0] == "[" and host[-1] == "]")):
            raise ValueError("names or addresses of hosts, without https:// and without a port")
    return listed(text)


def origins(text: str) -> tuple[str, ...]:
    for origin in listed(text):
        scheme, _, host = origin.partition("://")
        if scheme not in {"http", "https"} or not host or "/" in host:
            raise ValueError("origins such as https://atributo.example, without a path")
    return listed(text)


def proxies(text: str) -> tuple[str, ...]:
    try:
        [ipaddress.ip_network(address) for address in listed(text)]
    except ValueError as error:
        raise ValueError("addresses or networks, such as 10.0.0.7 or 10.0.0.0/24") from error
    return listed(text)


def modules(text: str) -> tuple[str, ...]:
    for name in listed(text):
        if not all(part.isidentifier() and part.isascii() for part in name.split(".")):
            raise ValueError("names of modules such as shop.jobs, with commas")
    return listed(text)


def queue_patterns(text: str) -> tuple[str, ...]:
    """Return queues that a worker serves, each as its command takes it."""
    words = listed(text)
    _readable(words, ())
    return words


def excluded_queues(text: str) -> tuple[str, ...]:
    words = listed(text)
    _readable((), words)
    return words


def _readable(words: tuple[str, ...], excluded: tuple[str, ...]) -> None:
    try:
        parsed(words, excluded)
    except ValueError as error:
        raise ValueError(f"queues such as critical:3,mail-*: {error}") from error
