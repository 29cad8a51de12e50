"""Where the site is mounted: at "/" by itself, or below a prefix such as "/ops/" in a project."""

from django.http import HttpRequest
from django.urls import get_script_prefix, reverse

REST = "api/"


def prefix() -> str:
    """Return the address of the overview, which all other addresses begin with."""
    return reverse("atributo:overview")


def path_prefix() -> str:
    """Return the same without the folder of a WSGI server, as in `request.path_info`."""
    return prefix()[len(get_script_prefix()) - 1 :]


def is_rest(request: HttpRequest) -> bool:
    """Return whether a program asks, which gets problems instead of pages."""
    return request.path.startswith(f"{prefix()}{REST}")
