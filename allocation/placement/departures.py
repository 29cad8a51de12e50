"""Tell which keys left an instance and where each of them went."""

from datetime import datetime
from typing import Any

from django.db.models import CharField, Count, OuterRef, Subquery
from django.db.models.functions import Coalesce

from allocation.models import Allocation, PastAllocation

MOST_COUNTED = 10_000


def departures(
    instance_id: str, since: datetime | None = None, until: datetime | None = None
) -> Any:
    """Return the placements that ended there, with `destination`: None if the key was freed."""
    asked = {"ended_at__gte": since, "ended_at__lt": until}
    ended = PastAllocation.objects.filter(
        instance_id=instance_id, **{name: at for name, at in asked.items() if at}
    )
    following = {"job_id": OuterRef("job_id"), "epoch": OuterRef("ended_epoch")}
    now_at = Allocation.objects.filter(**following).values("instance_id")[:1]
    then_at = PastAllocation.objects.filter(**following).values("instance_id")[:1]
    either = Coalesce(Subquery(now_at), Subquery(then_at), output_field=CharField())
    return ended.annotate(destination=either)


def destinations(
    instance_id: str, since: datetime | None = None, until: datetime | None = None
) -> list[tuple[str | None, int]]:
    """Count the newest departures by destination, most first, no further than MOST_COUNTED."""
    left = departures(instance_id, since, until).order_by("-id")
    floor = next(iter(left.values_list("id", flat=True)[MOST_COUNTED : MOST_COUNTED + 1]), 0)
    counted = left.filter(id__gt=floor).order_by().values("destination")
    found = counted.annotate(keys=Count("id")).values_list("destination", "keys")
    return sorted(found, key=lambda each: (-each[1], each[0] or ""))
