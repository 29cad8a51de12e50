"""The rules that must always hold in this room: name, sentence, and the rows that break it."""

from collections import defaultdict
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from allocation.instances.holds import OPEN_CLAIM
from allocation.models import Hold, Instance
from atributo_site.core.models.pieces import MOST, InPieces, Lasting, seen_twice
from pools.models import Backend, Pool, PoolSnapshot
from pools.models.backend import instance_id

ROUNDING = timedelta(milliseconds=2)  # each moment is stored in whole milliseconds
Rows = QuerySet[Any]
Invariant = tuple[str, str, Callable[[], list[str]] | InPieces | Lasting]


def available_without_dns() -> list[str]:
    """Check instances that DNS decides about, not a person or the instance itself."""
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


def other_than_answered() -> list[str]:
    """Compare what counts as in DNS with the last good answer and what still waits for a second."""
    present: dict[int, set[str]] = defaultdict(set)
    for pk, key in Backend.objects.present().values_list("pool_id", "key"):
        present[pk].add(key)
    rows = Pool.objects.watched().filter(began_at__isnull=False)
    facts = rows.values_list("pk", "name", "answer", "waiting")
    broken = [
        f"{name}: {sorted(present[pk])} in DNS, {waiting} in doubt, answered {answer}"
        for pk, name, answer, waiting in facts
        if set(answer) - present[pk] or len(present[pk] - set(answer)) != waiting
    ]
    return broken[:MOST]


def asked_below_floor() -> list[str]:
    """Check that the next look-up lies at least the floor after the last one began."""
    rows = Pool.objects.watched().filter(next_at__isnull=False, began_at__isnull=False)
    broken = [
        f"{row.name}: last {row.began_at}, next {row.next_at}"
        for row in rows.only("name", "began_at", "next_at", "ttl_floor_ms")
        if row.began_at
        and row.next_at
        and row.next_at - row.began_at < timedelta(milliseconds=row.ttl_floor_ms) - ROUNDING
    ]
    return broken[:MOST]


def unavailable_in_dns() -> list[str]:
    """Check instances that are left to DNS; one whose heartbeat stopped is dead all the same."""
    ready = Backend.Administrative.READY
    backends = Backend.objects.filter(instance_id=OuterRef("pk"), pool__is_watched=True)
    held = Backend.objects.filter(instance_id=OuterRef("pk")).exclude(administrative=ready)
    rows = Instance.objects.filter(
        Exists(backends.filter(state=Backend.State.PRESENT)),
        ~Exists(held),
        available=False,
        is_dead=False,
        source=Instance.Source.DNS,
    )
    return [f"{row.pk} is in DNS and unavailable" for row in rows[:MOST]]


def another_address(rows: Rows) -> list[str]:
    return [
        f"{row.key} of {row.address}:{row.port} is {row.instance_id}"
        for row in rows.only("key", "address", "port", "instance_id")
        if row.instance_id != instance_id(row.address, row.port)
    ]


def claims_of_nobody() -> list[str]:
    """A process writes its picture before its claims, and removes it before them."""
    picture = PoolSnapshot.objects.filter(process=OuterRef("key"))
    rows = Hold.objects.live().filter(~Exists(picture), kind=OPEN_CLAIM)
    return [f"{row.instance_id} by {row.key}" for row in rows[:MOST]]


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
    (
        "other backends than answered",
        "The backends are those of the last good answer, and those whose absence is in doubt.",
        seen_twice(other_than_answered),
    ),
    (
        "unavailable in DNS",
        "What is in DNS and left to it is available.",
        unavailable_in_dns,
    ),
    (
        "another address",
        "Every backend is the instance of its address and port.",
        InPieces(Backend, another_address),
    ),
    (
        "claims of nobody",
        "Every open claim belongs to a process that reports its pools.",
        Lasting(claims_of_nobody),
    ),
    ("asked below the floor", "No name is asked again before its time.", asked_below_floor),
]
