"""Count what still holds an instance, and decide whether it may be removed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.db.models import Sum

from allocation.errors import UnknownInstance
from allocation.instances.availability import load_of
from allocation.models import Hold, Instance
from atributo_site.core.models.clock import from_now
from atributo_site.core.text import pluralize

RUNNING_JOB = "running job"
OPEN_CLAIM = "open claim"


@dataclass(frozen=True)
class Left:
    """What a drain still waits for."""

    keys: int
    holds: dict[str, int]

    @property
    def running_jobs(self) -> int:
        return self.holds.get(RUNNING_JOB, 0)

    @property
    def open_claims(self) -> int:
        return self.holds.get(OPEN_CLAIM, 0)

    @property
    def is_nothing(self) -> bool:
        return not self.keys and not self.holds

    @property
    def sentence(self) -> str:
        """Return a sentence with the three counts and whatever else holds it."""
        counts = {RUNNING_JOB: self.running_jobs, OPEN_CLAIM: self.open_claims, **self.holds}
        named = [pluralize(count, kind) for kind, count in counts.items()]
        return ", ".join([pluralize(self.keys, "key"), *named])


@dataclass(frozen=True)
class Removal:
    """Whether an instance may be removed now, and if not, why."""

    may: bool
    available: bool
    jobs: int
    holds: dict[str, int]

    @property
    def sentence(self) -> str:
        if self.may:
            return "Nothing holds it. You can remove it."
        reasons = ["it is still available"] if self.available else []
        jobs = pluralize(self.jobs, "key is", "keys are")
        reasons += [f"{jobs} allocated to it"] if self.jobs else []
        reasons += [f"{count} × {kind}" for kind, count in self.holds.items()]
        return f"Not yet: {', '.join(reasons)}."


def hold(
    instance_id: str,
    kind: str,
    key: str,
    *,
    seconds: float | None = None,
    count: int = 1,
    using: str = "default",
) -> None:
    """Hold the instance until `release` or for so many seconds; a second call renews."""
    hold_together({instance_id: count}, kind, key, seconds=seconds, using=using)


def hold_together(
    counts: Mapping[str, int],
    kind: str,
    key: str,
    *,
    seconds: float | None = None,
    using: str = "default",
) -> None:
    """Hold many instances by one statement, each as often as its count says."""
    until = None if seconds is None else from_now(seconds)
    rows = [
        Hold(instance_id=instance_id, kind=kind, key=key, until=until, count=count)
        for instance_id, count in sorted(counts.items())
    ]
    Hold.objects.using(using).bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["instance", "kind", "key"],
        update_fields=["until", "count"],
        batch_size=500,
    )


def release(instance_id: str, kind: str, key: str, *, using: str = "default") -> bool:
    rows = Hold.objects.using(using).filter(instance_id=instance_id, kind=kind, key=key)
    return rows.delete()[0] > 0


def holds_of(instance_id: str, using: str = "default") -> dict[str, int]:
    """Return kind → how many holds that have not expired."""
    return Hold.objects.using(using).filter(instance_id=instance_id).live().counted()


def holding(instance_ids: Iterable[str], using: str = "default") -> dict[str, int]:
    """Return instance → how many jobs and claims hold it, for many at once."""
    rows = Hold.objects.using(using).filter(instance_id__in=list(instance_ids)).live()
    return dict(rows.order_by().values_list("instance_id").annotate(Sum("count")))


def kinds_held(instance_ids: Iterable[str], using: str = "default") -> dict[str, dict[str, int]]:
    """Return instance → kind → how many holds, for many at once."""
    asked = list(instance_ids)
    if not asked:  # Django would make the whole statement before it notices
        return {}
    rows = Hold.objects.using(using).filter(instance_id__in=asked).live()
    counts: dict[str, dict[str, int]] = {}
    counted = rows.order_by().values_list("instance_id", "kind").annotate(Sum("count"))
    for instance_id, kind, count in counted:
        counts.setdefault(instance_id, {})[kind] = count
    return counts


def left_on(instance_id: str, using: str = "default") -> Left:
    return Left(load_of(instance_id, using), holds_of(instance_id, using))


def may_remove(instance_id: str, using: str = "default") -> Removal:
    row = Instance.objects.using(using).filter(pk=instance_id).first()
    if row is None:
        raise UnknownInstance(f"there is no instance {instance_id}", instance_id=instance_id)
    jobs, holds = load_of(instance_id, using), holds_of(instance_id, using)
    return Removal(not (row.available or jobs or holds), row.available, jobs, holds)
