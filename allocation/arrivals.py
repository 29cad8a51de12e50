"""Many new instances at once, in one transaction and with few statements."""

from collections.abc import Mapping
from typing import Any

from allocation import roster
from allocation.events import record_many
from allocation.locks import availability_alone
from allocation.models import Instance
from allocation.stores import store


def make_available_together(
    arrivals: Mapping[str, Mapping[str, Any]], *, source: str, using: str = "default"
) -> set[str]:
    """Id → reason and labels; the ids of those that nobody knew, which are available now.

    About the others somebody has decided before: they are for `make_available`.
    """
    if not arrivals:
        return set()
    with availability_alone(using):
        known = Instance.objects.using(using).filter(pk__in=list(arrivals))
        new = sorted(set(arrivals) - set(known.values_list("pk", flat=True)))
        if new:
            _insert({pk: arrivals[pk] for pk in new}, source, using)
    return set(new)


def _insert(new: Mapping[str, Mapping[str, Any]], source: str, using: str) -> None:
    epochs = dict(zip(new, roster.next_epochs(len(new), using), strict=True))
    Instance.objects.using(using).bulk_create(
        Instance(pk=pk, available=True, source=source, origin=source, epoch=epochs[pk], **settings)
        for pk, settings in new.items()
    )
    store(using).make_counters(list(new))
    roster.announce(using)
    facts = {"source": source, "was_available": False}
    record_many(
        [
            ("instance.available", f"instance:{pk}", {"epoch": epochs[pk], **facts, **settings})
            for pk, settings in new.items()
        ],
        using=using,
    )
