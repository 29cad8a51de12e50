"""Does Redis answer? Asked at most every few seconds, so that no page waits for it twice."""

from django.core.cache import cache

from atributo_site.redis_health import redis_health

KEY = "console:redis_trouble"
REMEMBERED_SECONDS = 3


def redis_trouble() -> str:
    """What is wrong with Redis, or nothing."""
    known = cache.get(KEY)
    if known is None:
        known = remember(redis_health().as_dict())
    return known


def remember(health: dict[str, str]) -> str:
    """What somebody has just found out need not be asked again for the frame of the page."""
    trouble = "" if health["state"] == "ok" else health["detail"]
    cache.set(KEY, trouble, REMEMBERED_SECONDS)
    return trouble
