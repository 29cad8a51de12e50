"""Convert ids in URLs: percent-encoded, with any character of an id, slashes included.

A server decodes %2F before Django sees the path, so that "a%2Fb" and "a/b" look alike. `asgi.py`
therefore passes an encoded slash on as the control character below, which no id may contain; this
converter turns it back.
"""

from django.urls import register_converter

ENCODED_SLASH = "\x1f"


def as_it_was_asked(address: str) -> str:
    """Return the address of a request with encoded slashes in ids, as the client sent it."""
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
