"""What every page shows around its content."""

from typing import Any

from django.http import HttpRequest

from atributo_site.console.degraded import redis_trouble
from atributo_site.console.look import look
from atributo_site.console.navigation import navigation
from atributo_site.permissions import role_of


def frame(request: HttpRequest) -> dict[str, Any]:
    """For all templates that are rendered for a request."""
    user = getattr(request, "user", None)
    if user is None or not user.is_authenticated:
        return look(request)
    return {
        **look(request),
        "navigation": navigation(user, request.path),
        "role": role_of(user),
        "redis_trouble": redis_trouble(),
    }
