"""What must always hold, as predicates: used by `verify`, by tests and by the dashboard."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from allocation import invariants as allocation
from allocation.models import Event
from allocation.transactions import invariants as transactions
from pools import invariants as pools
from queues import invariants as queues

NEWEST = 1000


@dataclass(frozen=True)
class Rule:
    """`broken()` returns one line for each row that breaks the rule."""

    name: str
    sentence: str
    broken: Callable[[], list[str]]


def all_rules() -> list[Rule]:
    """Rooms add theirs here as they land."""
    rooms = (allocation, transactions, pools, queues)
    return [*(Rule(*each) for room in rooms for each in room.INVARIANTS), ONE_CURATOR]


def two_curators() -> list[str]:
    """Whoever becomes active does so with a higher epoch than everybody before."""
    newest = Event.objects.filter(kind="curator.active").order_by("-pk")[:NEWEST]
    epochs = [(event.facts.get("epoch", 0), event.subject) for event in newest]
    return [
        f"{subject} at epoch {epoch}"
        for (epoch, subject), (before, _) in pairwise(epochs)
        if epoch <= before
    ]


ONE_CURATOR = Rule(
    "two curators", "No two curators were active at the same epoch, and epochs rise.", two_curators
)
