"""Ask Redis whether it answers, at most every few seconds.

Redis is only a doorbell, so without it the site is degraded, not down.
"""

from dataclasses import asdict, dataclass

import redis
from django.conf import settings
from django.core.cache import cache

GOOD_POLICIES = {"noeviction", "volatile-lru", "volatile-ttl", "volatile-lfu", "volatile-random"}
KEY = "console:redis_trouble"
REMEMBERED_SECONDS = 3
TIMEOUT_SECONDS = 0.5


@dataclass(frozen=True)
class RedisHealth:
    state: str  # ok, degraded
    detail: str
    version: str = ""
    policy: str = ""

    def as_dict(self) -> dict[str, str]:
        return asdict(self)


def redis_health() -> RedisHealth:
    client = redis.Redis.from_url(
        _url(),
        socket_timeout=TIMEOUT_SECONDS,
        socket_connect_timeout=TIMEOUT_SECONDS,
        retry=None,
    )
    try:
        return _examined(client.info())
    except redis.RedisError as error:
        return RedisHealth("degraded", f"Redis does not answer: {_short(error)}")
    finally:
        client.close()


def _url() -> str:
    """Return our own address inside a project, whose REDIS_URL may be for something else."""
    env = settings.ATRIBUTO
    return env.redis_address if env.is_hosted else settings.REDIS_URL


def _examined(info: dict) -> RedisHealth:
    version = str(info.get("valkey_version") or info.get("redis_version", ""))
    policy = str(info.get("maxmemory_policy", ""))
    if "err" in {info.get("aof_last_write_status"), info.get("rdb_last_bgsave_status")}:
        detail = "Redis cannot write to its disk, which is full or refuses it."
        return RedisHealth("degraded", detail, version, policy)
    if policy not in GOOD_POLICIES:
        detail = f"maxmemory-policy {policy} may drop messages; set it to noeviction."
        return RedisHealth("degraded", detail, version, policy)
    return RedisHealth("ok", f"Redis {version} answers.", version, policy)


def _short(error: redis.RedisError) -> str:
    """Return the first line without the address: a URL may carry a password."""
    return type(error).__name__ if "@" in str(error) else str(error).splitlines()[0][:200]


def redis_trouble() -> str:
    """Return what is wrong with Redis; an empty text if nothing is."""
    known = cache.get(KEY)
    if known is None:
        known = remember(redis_health().as_dict())
    return known


def remember(health: dict[str, str]) -> str:
    """Keep a fresh result for the frame of the page, which need not ask again."""
    trouble = "" if health["state"] == "ok" else health["detail"]
    cache.set(KEY, trouble, REMEMBERED_SECONDS)
    return trouble
