"""Pieces of what does the same from a terminal, true for the object that a page is about."""

import re
import shlex
from typing import Any
from urllib.parse import quote

from django import template

register = template.Library()

ADDRESS = re.compile(r"(?<=[\s'])/(?=(?:api/v1|events/stream)\S*$)")


@register.filter
def word(value: Any) -> str:
    """One word for the shell, whatever an id is made of."""
    return shlex.quote(str(value))


@register.filter
def part(value: Any) -> str:
    """One part of an address; a slash in an id is none of the path."""
    return quote(str(value), safe="")


@register.simple_tag(takes_context=True)
def from_here(context: Any, curl: str) -> str:
    """The address at the end with the origin of this site, so that it can be run as it is."""
    request = context["request"]
    return ADDRESS.sub(f"{request.scheme}://{request.get_host()}/", curl)
