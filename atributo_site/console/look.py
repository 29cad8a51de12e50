"""How a page looks, from the request alone: failure pages have no database to ask."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest

THEMES = ("auto", "light", "dark")
THEME_COOKIE = "theme"


def look(request: HttpRequest) -> dict[str, Any]:
    theme = request.COOKIES.get(THEME_COOKIE, "")
    return {
        "badge": settings.ATRIBUTO.badge or settings.ATRIBUTO.mode,
        "theme": theme if theme in THEMES else "auto",
        "themes": THEMES,
        "page_url": request.get_full_path() if request.method == "GET" else "/",
        "request_id": getattr(request, "request_id", ""),
    }
