"""What still holds an instance, and whether it may be removed."""

from dataclasses import dataclass

from allocation.availability import load_of
from allocation.errors import UnknownInstance
from allocation.models import Hold, Instance
from allocation.models.clock import from_now


@dataclass(frozen=True)
class Removal:
    """«May I remove this one now?» with the reasons when not."""

    may: bool
    available: bool
    jobs: int
    holds: dict[str, int]

    @property
    def sentence(self) -> str:
        if self.may:
            return "Nothing holds it: it may be removed."
        reasons = ["it is still available"] if self.available else []
        reasons += [f"{self.jobs} jobs are allocated to it"] if self.jobs else []
        reasons += [f"{count} × {kind}" for kind, count in self.holds.items()]
        return f"Not yet: {', '.join(reasons)}."


def hold(
    instance_id: str, kind: str, key: str, *, seconds: float | None = None, using: str = "default"
) -> None:
    """Keep the instance until released, or until the seconds are over; holding again renews."""
    until = None if seconds is None else from_now(seconds)
    Hold.objects.using(using).update_or_create(
        instance_id=instance_id, kind=kind, key=key, defaults={"until": until}
    )


def release(instance_id: str, kind: str, key: str, *, using: str = "default") -> bool:
    rows = Hold.objects.using(using).filter(instance_id=instance_id, kind=kind, key=key)
    return rows.delete()[0] > 0


def holds_of(instance_id: str, using: str = "default") -> dict[str, int]:
    """Kind → how many, of those that have not run out."""
    return Hold.objects.using(using).filter(instance_id=instance_id).live().counted()


def may_remove(instance_id: str, using: str = "default") -> Removal:
    row = Instance.objects.using(using).filter(pk=instance_id).first()
    if row is None:
        raise UnknownInstance(f"there is no instance {instance_id}", instance_id=instance_id)
    jobs, holds = load_of(instance_id, using), holds_of(instance_id, using)
    return Removal(not (row.available or jobs or holds), row.available, jobs, holds)
