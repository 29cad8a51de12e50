"""What must always hold, as predicates: used by `verify`, by tests and by the dashboard."""

from collections.abc import Callable
from dataclasses import dataclass

from allocation import invariants as allocation
from allocation.transactions import invariants as transactions
from pools import invariants as pools
from queues import invariants as queues


@dataclass(frozen=True)
class Rule:
    """`broken()` returns one line for each row that breaks the rule."""

    name: str
    sentence: str
    broken: Callable[[], list[str]]


def all_rules() -> list[Rule]:
    """Rooms add theirs here as they land."""
    rooms = (allocation, transactions, pools, queues)
    return [Rule(*each) for room in rooms for each in room.INVARIANTS]
