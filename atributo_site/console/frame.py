"""What every page shows around its content."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest

from atributo_site.console.degraded import redis_trouble
from atributo_site.console.navigation import navigation
from atributo_site.permissions import role_of

THEMES = ("auto", "light", "dark")
THEME_COOKIE = "theme"


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


def look(request: HttpRequest) -> dict[str, Any]:
    """What needs neither database nor session, so that failure pages can have it too."""
    theme = request.COOKIES.get(THEME_COOKIE, "")
    return {
        "badge": settings.ATRIBUTO.badge or settings.ATRIBUTO.mode,
        "theme": theme if theme in THEMES else "auto",
        "themes": THEMES,
    }
