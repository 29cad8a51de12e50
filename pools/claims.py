"""Open claims as holds: an instance whose connections are in use may not be removed yet.

A process says how many connections to each backend it has lent out, with its picture and for a
little longer than that picture is fresh. Allocation counts them; it does not know what a pool is.
"""

from collections import Counter
from collections.abc import Collection, Mapping

from django.db.models import Exists, OuterRef

from allocation.holds import OPEN_CLAIM, hold, release
from allocation.models import Hold, Instance
from pools.models import Backend
from pools.models.pool_snapshot import OLD_SECONDS


def hold_claimed(process: str, claimed: Mapping[str, int]) -> None:
    """Backend key → connections lent out; replaces what this process has said before."""
    counts = _by_instance(claimed)
    for instance_id, count in counts.items():
        hold(instance_id, OPEN_CLAIM, process, seconds=OLD_SECONDS, count=count)
    let_go(process, but=set(counts))


def let_go(process: str, but: Collection[str] = ()) -> None:
    """It has lent out nothing, except to these."""
    held = Hold.objects.filter(kind=OPEN_CLAIM, key=process).exclude(instance_id__in=but)
    for instance_id in held.values_list("instance_id", flat=True):
        release(instance_id, OPEN_CLAIM, process)


def _by_instance(claimed: Mapping[str, int]) -> Counter[str]:
    """A backend may be in several pools; it is one instance all the same."""
    known = Instance.objects.filter(pk=OuterRef("instance_id"))
    backends = Backend.objects.filter(Exists(known), key__in=list(claimed))
    counts: Counter[str] = Counter()
    for key, instance_id in set(backends.values_list("key", "instance_id")):
        counts[instance_id] += claimed[key]
    return counts
