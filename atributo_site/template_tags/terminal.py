"""Filters for the commands and curls that do the same as a page."""

import re
import shlex
from typing import Any
from urllib.parse import quote

from django import template

from atributo_site.core.text import runnable
from atributo_site.pages.mount import prefix

register = template.Library()
register.filter("runnable", runnable)

ADDRESS = re.compile(r"(?<=[\s'])/(?=(?:api/v1|events/stream)\S*$)")


@register.filter
def word(value: Any) -> str:
    """Quote a value as one word for the shell."""
    return shlex.quote(str(value))


@register.filter
def part(value: Any) -> str:
    """Quote a value as one part of a path."""
    return quote(str(value), safe="")


@register.simple_tag(takes_context=True)
def from_here(context: Any, curl: str) -> str:
    """Put the origin of this site before the path of a curl, so that it runs as it is."""
    request = context["request"]
    return ADDRESS.sub(f"{request.scheme}://{request.get_host()}{prefix()}", curl)
