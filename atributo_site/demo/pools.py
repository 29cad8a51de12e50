"""A name with three backends, one of which comes and goes; it is not watched, as it has no DNS."""

from django.db.transaction import atomic

from pools import configuration
from pools.logic.backends import make_backend
from pools.models import Pool
from pools.watch import instances

NAME = "shop"
FLAPS = 3


def is_empty() -> bool:
    return not Pool.objects.exists()


def seed() -> None:
    if Pool.objects.filter(name=NAME).exists():
        return
    pool = configuration.watch(NAME, domain="shop.demo.invalid", is_watched=False)
    backends = [make_backend(f"shop-{n}.demo.invalid", f"10.20.0.{n}", 8080) for n in (1, 2, 3)]
    flapping = backends[2]
    with atomic():
        instances.add([(pool, backend) for backend in backends])
    for _ in range(FLAPS):
        _leave(pool, flapping.key)
        with atomic():
            instances.add([(pool, flapping)])
    _leave(pool, flapping.key)


def _leave(pool: Pool, key: str) -> None:
    with atomic():
        instances.remove(pool, [key])
