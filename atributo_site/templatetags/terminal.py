"""Filters for the commands and curls that do the same as a page."""

import re
import shlex
from typing import Any
from urllib.parse import quote

from django import template
from django.conf import settings

from atributo_site.config.places import PROGRAM
from atributo_site.pages.mount import prefix

register = template.Library()

ADDRESS = re.compile(r"(?<=[\s'])/(?=(?:api/v1|events/stream)\S*$)")


@register.filter
def word(value: Any) -> str:
    """Quote a value as one word for the shell."""
    return shlex.quote(str(value))


@register.filter
def part(value: Any) -> str:
    """Quote a value as one part of a path."""
    return quote(str(value), safe="")


@register.filter
def as_typed_here(command: str) -> str:
    """Return a command with the name of the program that this installation has."""
    program = "manage.py" if settings.ATRIBUTO.is_hosted else PROGRAM
    return re.sub(r"^manage\.py(?= )", program, command)


@register.simple_tag(takes_context=True)
def from_here(context: Any, curl: str) -> str:
    """Put the origin of this site before the path of a curl, so that it runs as it is."""
    request = context["request"]
    return ADDRESS.sub(f"{request.scheme}://{request.get_host()}{prefix()}", curl)
