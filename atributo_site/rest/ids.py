"""Ids in URLs: percent-encoded, any character that an id may have, slashes included.

A server decodes %2F before Django sees the path, so that «a%2Fb» and «a/b» look alike.
`asgi.py` therefore hands an encoded slash on as the control character below, which no id
may contain; this converter turns it back.
"""

from django.urls import register_converter

ENCODED_SLASH = "\x1f"


def as_it_was_asked(address: str) -> str:
    """The address of a request with the slashes of its ids encoded as the client did it."""
    path, mark, query = address.partition("?")
    return path.replace("%1F", "%2F") + mark + query


class IdConverter:
    regex = "[^/]+"

    def to_python(self, value: str) -> str:
        if "\x00" in value:
            raise ValueError("no id contains the NUL character")  # 404
        return value.replace(ENCODED_SLASH, "/")

    def to_url(self, value: str) -> str:
        return value.replace("/", ENCODED_SLASH)


register_converter(IdConverter, "id")
