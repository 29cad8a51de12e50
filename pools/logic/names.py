"""DNS names as people type them, and as the wire wants them."""

import re

from pools.logic.errors import InvalidInput

LABEL = re.compile(r"(?!-)[A-Za-z0-9_-]{1,63}(?<!-)\Z")


def dns_name(text: str) -> str:
    """The name without its last dot, in ASCII; InvalidInput for what can not be one."""
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
