"""Two names: one that the demo's own name server knows, and one of the past, without a server.

The backends of the latter came and went; it is not watched.
"""

from django.db.transaction import atomic

from atributo_site.demo.ports import DOMAIN, HOST, free_block
from pools import configuration
from pools.logic.backends import make_backend
from pools.models import Pool
from pools.watch import instances

NAME = "shop"
SERVED = "store"
FLOOR_MS = 5000
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


def is_here() -> bool:
    """Return whether this site has the demo's names."""
    return Pool.objects.filter(name=NAME, domain="shop.demo.invalid").exists()


def network_port() -> int:
    """Return the port of the name server, which stays the same after the first start."""
    known = Pool.objects.filter(name=SERVED).values_list("nameservers", flat=True).first()
    return int(known[0].rpartition(":")[2]) if known else free_block()


def watch(port: int) -> None:
    """Watch the name that the demo's name server knows, wherever that listens this time."""
    servers = [f"{HOST}:{port}"]
    if Pool.objects.filter(name=SERVED).exists():
        configuration.change(SERVED, nameservers=servers)
    else:
        configuration.watch(SERVED, domain=DOMAIN, nameservers=servers, ttl_floor_ms=FLOOR_MS)


def _leave(pool: Pool, key: str) -> None:
    with atomic():
        instances.remove(pool, [key])
