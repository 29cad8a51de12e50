"""The one list of screens, for the left bar, bottom tabs, keys and search, and the page frame."""

from dataclasses import dataclass
from typing import Any

from django.conf import global_settings, settings
from django.http import HttpRequest
from django.shortcuts import resolve_url
from django.urls import NoReverseMatch, reverse

from atributo_site.incidents.listing import count_open
from atributo_site.pages.mount import prefix
from atributo_site.permissions import ACTIONS, may, role_of
from atributo_site.status.redis import redis_trouble
from atributo_site.web.error_pages import look


@dataclass(frozen=True)
class Item:
    """A screen; it appears if its URL exists and the user's role may see it."""

    name: str
    url_name: str
    icon: str
    key: str  # pressed after "g"
    action: str


ITEMS = (
    Item("Overview", "overview", "overview", "o", "overview.view"),
    Item("Incidents", "incidents", "warn", "n", "incident.view"),
    Item("Instances", "instances", "instances", "i", "instance.view"),
    Item("Allocations", "allocations", "allocations", "a", "allocation.view"),
    Item("Queues", "queues", "queues", "q", "queue.view"),
    Item("Jobs", "jobs", "jobs", "j", "job.view"),
    Item("Schedules", "schedules", "schedules", "s", "job.view"),
    Item("Services", "services", "services", "v", "service.view"),
    Item("Transactions", "transactions", "transactions", "t", "transaction.view"),
    Item("Documents", "documents", "docs", "d", "document.view"),
    Item("Pools & DNS", "pools", "pools", "p", "pool.view"),
    Item("Events", "events", "events", "e", "event.view"),
    Item("System", "system", "system", "y", "system.view"),
    Item("Docs", "docs", "book", "h", "docs.view"),
    Item("Raw lists", "admin:index", "table", "r", "overview.view"),
)


def navigation(user: Any, path: str) -> list[dict[str, Any]]:
    """Return the screens that the user may open, the one that `path` belongs to marked."""
    items = [(item, url) for item in ITEMS if (url := address(item.url_name)) and _may(user, item)]
    top = prefix()
    here = max((url for _, url in items if _leads_to(url, path, top)), key=len, default=None)
    return [
        {
            "name": item.name,
            "icon": item.icon,
            "key": item.key,
            "url": url,
            "current": url == here,
        }
        for item, url in items
    ]


def address(url_name: str, *args: Any) -> str | None:
    """Return the URL of a screen, or None if there is no such screen."""
    try:
        return reverse(url_name if ":" in url_name else f"atributo:{url_name}", args=args)
    except NoReverseMatch:
        return None


def log_in() -> str:
    """Return where people log in: the project's own page, or else that of the raw lists."""
    if settings.LOGIN_URL != global_settings.LOGIN_URL:
        return resolve_url(settings.LOGIN_URL)
    return address("admin:login") or resolve_url(settings.LOGIN_URL)


def _may(user: Any, item: Item) -> bool:
    return item.action in ACTIONS and may(user, item.action)


def _leads_to(url: str, path: str, top: str) -> bool:
    return path == url or (url != top and path.startswith(url))


def frame(request: HttpRequest) -> dict[str, Any]:
    """Add what every page shows around its content to the context of all templates."""
    user = getattr(request, "user", None)
    if user is None or not user.is_authenticated:
        return look(request)
    return {
        **look(request),
        "navigation": navigation(user, request.path),
        "role": role_of(user),
        "redis_trouble": redis_trouble(),
        "open_incidents": count_open,
    }
