"""What must always hold in this room: name, sentence, and the rows that break it."""

from collections.abc import Callable

from django.db.models import Exists, F, OuterRef

from allocation.models import Instance
from pools.models import Backend, Pool

MOST = 20
Invariant = tuple[str, str, Callable[[], list[str]]]


def available_without_dns() -> list[str]:
    """Only as long as nobody else has decided: a person or the instance itself may."""
    backends = Backend.objects.filter(instance_id=OuterRef("pk"), pool__is_watched=True)
    rows = Instance.objects.available().filter(
        Exists(backends), ~Exists(backends.present()), source=Instance.Source.DNS
    )
    return [f"{row.pk} is available and not in DNS" for row in rows[:MOST]]


def refused_in_use() -> list[str]:
    backends = Backend.objects.filter(instance_id=OuterRef("pk"))
    rows = Instance.objects.available().filter(
        Exists(backends.filter(state=Backend.State.REFUSED)),
        ~Exists(backends.filter(state=Backend.State.PRESENT)),
        source=Instance.Source.DNS,
    )
    return [f"{row.pk} is available and not permitted" for row in rows[:MOST]]


def asked_below_floor() -> list[str]:
    """The next look-up lies at least the floor after the last one began."""
    rows = Pool.objects.watched().filter(next_at__lt=F("looked_up_at"))
    return [f"{row.name}: next {row.next_at}, last {row.looked_up_at}" for row in rows[:MOST]]


INVARIANTS: list[Invariant] = [
    (
        "available without DNS",
        "What DNS made available is in DNS, or its removal waits for a confirmation.",
        available_without_dns,
    ),
    (
        "refused in use",
        "No address that is not permitted is an available instance.",
        refused_in_use,
    ),
    ("asked below the floor", "No name is asked again before its time.", asked_below_floor),
]
