"""Read DNS names and HOST[:PORT] as people type them."""

import re
from dataclasses import dataclass

from pools.logic.backends import is_address
from pools.logic.errors import InvalidInput

LABEL = re.compile(r"(?!-)[A-Za-z0-9_-]{1,63}(?<!-)\Z")
PORT = re.compile(r"[0-9]{1,5}\Z")


def dns_name(text: str) -> str:
    """Return the name in ASCII without its last dot; raise InvalidInput for what cannot be one."""
    name = _ascii(text.removesuffix("."))
    labels = name.split(".")
    if len(name) > 253:
        raise InvalidInput(f"name of {len(name)} characters is too long for DNS")
    if not all(LABEL.match(label) for label in labels):
        raise InvalidInput(f"not a DNS name: {text!r}")
    if labels[-1].isdigit():
        raise InvalidInput(f"neither an IP address nor a DNS name: {text!r}")
    return name


def fold(name: str) -> str:
    return name.rstrip(".").lower()


def _ascii(text: str) -> str:
    if text.isascii():
        return text
    try:
        return text.encode("idna").decode("ascii")
    except UnicodeError as error:
        raise InvalidInput(f"not a DNS name: {text!r}") from error


@dataclass(frozen=True, slots=True)
class HostPort:
    host: str
    port: int | None
    is_ip: bool
    is_ambiguous: bool = False


def parse_host_port(text: str) -> HostPort:
    """Prefer a whole IPv6 literal to "address:port"; brackets make it unambiguous."""
    if not isinstance(text, str):
        raise TypeError("input must be a string")
    if is_address(text):
        return HostPort(text, None, True, _is_ambiguous(text))
    if text.startswith("["):
        return _bracketed(text)
    host, colon, port = text.rpartition(":")
    if not colon:
        return HostPort(dns_name(text), None, False)
    number = parse_port(port, text)
    if is_address(host):
        return HostPort(host, number, True)
    return HostPort(dns_name(host), number, False)


def parse_port(text: str, whole: str = "") -> int:
    if not PORT.match(text) or not 1 <= int(text) <= 65535:
        raise InvalidInput(f"unsupported port in input: {whole or text}")
    return int(text)


def _is_ambiguous(text: str) -> bool:
    head, _, tail = text.rpartition(":")
    return bool(PORT.match(tail)) and is_address(head)


def _bracketed(text: str) -> HostPort:
    host, bracket, rest = text[1:].partition("]")
    if not bracket or ":" not in host or not is_address(host):
        raise InvalidInput(f"not an IPv6 address in brackets: {text!r}")
    if not rest:
        return HostPort(host, None, True)
    if not rest.startswith(":"):
        raise InvalidInput(f"unexpected text after the bracket: {text!r}")
    return HostPort(host, parse_port(rest[1:], text), True)
