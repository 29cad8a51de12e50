"""Read If-Match and If-None-Match: act only on a version that the caller has seen.

RFC 9110, section 13.1: If-Match compares strongly, so that a weak tag matches nothing. Both headers
may name several versions, and `*` is any version that there is.
"""

import re
from collections.abc import Callable
from typing import TypeVar

from rest_framework.exceptions import ParseError
from rest_framework.request import Request

from atributo_site.core.errors import AtributoError

TAG = r'(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"'
TAGS = re.compile(rf"[ \t,]*{TAG}(?:[ \t]*,[ \t,]*{TAG})*[ \t,]*")  # elements may be empty
EPOCH = re.compile(r"0|[1-9][0-9]{0,18}")
Version = Callable[[], int | None]
T = TypeVar("T")


class PreconditionFailed(AtributoError):
    """The object has changed since the caller read it."""

    status_code = 412
    code = "precondition_failed"


def etag(epoch: int) -> str:
    return f'"{epoch}"'


def required_epoch(request: Request, current: Version, *, creates: bool = False) -> int | None:
    """Return the version that If-Match demands; None without the header or for `*`.

    `current` reads the version that there is, if any; of several that are named it is the one
    that counts. An operation that `creates` needs something to be there for `*`.
    """
    tags = strong_tags(request)
    if tags is None:
        if creates and "If-Match" in request.headers and current() is None:
            raise PreconditionFailed("If-Match: * needs something that exists")
        return None
    epochs = [int(tag) for tag in tags if EPOCH.fullmatch(tag)]
    if not epochs:
        raise PreconditionFailed(f"no version is called {request.headers['If-Match']}")
    return epochs[0] if len(epochs) == 1 else named_or_first(epochs, current())


def strong_tags(request: Request) -> list[str] | None:
    """Return the versions that If-Match names, without quotes; None for no header and for `*`."""
    header = request.headers.get("If-Match")
    if header is None or header.strip() == "*":
        return None
    return [tag[1:-1] for tag in _tags("If-Match", header) if not tag.startswith("W/")]


def named_or_first(versions: list[T], current: T | None) -> T:
    """Return the version that there is if it is among these; else one that will be refused."""
    return current if current is not None and current in versions else versions[0]


def known_tags(request: Request) -> list[str]:
    """Return the versions that If-None-Match names; weak ones count here as well."""
    header = request.headers.get("If-None-Match", "")
    return [tag.removeprefix("W/")[1:-1] for tag in re.findall(TAG, header)]


def must_be_new(request: Request) -> bool:
    """Return True for `If-None-Match: *`, which asks to create and never to overwrite."""
    header = request.headers.get("If-None-Match", "")
    return header.strip() == "*"


def _tags(name: str, header: str) -> list[str]:
    if not TAGS.fullmatch(header):
        raise ParseError(f'The header {name} must be an ETag such as "7", a list of them, or *.')
    return re.findall(TAG, header)
