"""A name of three backends, one of which comes and goes. It is not watched: there is no DNS."""

from allocation.leases import HeldLease
from pools import apply, configure
from pools.logic.backends import make_backend
from pools.models import Pool

NAME = "shop"
FLAPS = 3
LEASE_SECONDS = 60


def is_empty() -> bool:
    return not Pool.objects.exists()


def tell() -> None:
    if Pool.objects.filter(name=NAME).exists():
        return
    pool = configure.watch(NAME, domain="shop.demo.invalid", is_watched=False)
    lease = HeldLease.take("demo", "seed_demo", LEASE_SECONDS)
    assert lease is not None
    found = [make_backend(f"shop-{n}.demo.invalid", f"10.20.0.{n}", 8080) for n in (1, 2, 3)]
    for backend in found:
        apply.add(pool, backend, lease)
    flapping = found[2].key
    for _ in range(FLAPS):
        apply.remove(pool, flapping, lease)
        apply.add(pool, found[2], lease)
    apply.remove(pool, flapping, lease)
    lease.release()
