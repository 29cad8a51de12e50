"""Undo a piece of each rollback by one database transaction, so that they take turns."""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from django.conf import settings
from django.db import DatabaseError
from django.db.transaction import atomic

from allocation.transactions.engine.operations import Fence
from allocation.transactions.errors import JournalDamaged
from allocation.transactions.logic.undo import Restore
from allocation.transactions.store import undo
from allocation.transactions.store.undo import Task
from atributo_site.core.errors import AtributoError, ConnectionLost, LeaseLost
from atributo_site.core.failpoints import failpoint
from atributo_site.core.retry import is_busy

PIECE = 500  # keys of one database transaction
FEWEST = 5  # keys that each gets, however many share a piece
MOST_TOLD = 5  # damaged lines in an error
T = TypeVar("T")
Guard = Callable[[], None]
FAILURES = (DatabaseError, AtributoError, ValueError, TypeError)


@dataclass
class RollBack:
    """What is left to undo of a claimed transaction, and what could not be undone."""

    fence: Fence
    left: deque[Restore] = field(default_factory=deque)
    damaged: list[str] = field(default_factory=list)
    failures: list[BaseException] = field(default_factory=list)
    is_taken: bool = False  # by somebody else, who claimed it after us

    @property
    def is_undone(self) -> bool:
        return not (self.left or self.is_taken or self.failure)

    @property
    def failure(self) -> BaseException | None:
        """Return why it is stuck."""
        if self.failures:
            return self.failures[0]
        if not self.damaged:
            return None
        more = [f"and {len(self.damaged) - MOST_TOLD} more"] if self.damaged[MOST_TOLD:] else []
        return JournalDamaged("; ".join([*self.damaged[:MOST_TOLD], *more]))

    def take(self, most: int) -> list[Task]:
        count = min(most, len(self.left))
        return [Task(self.fence.txn, self.left.popleft()) for _ in range(count)]


def claim_seconds() -> float:
    """Return how long a rollback may be silent before a curator takes it over."""
    return settings.ATRIBUTO.max_job_time_ms / 1000


def planned(fences: Iterable[Fence]) -> list[RollBack]:
    """Read the journals; one that cannot be read fails alone."""
    roll_backs = [RollBack(fence) for fence in fences]
    for each, error in isolated(roll_backs, _plan):
        each.failures.append(error)
    return roll_backs


def turn(roll_backs: Sequence[RollBack], guard: Guard, *, wait: bool) -> int:
    """Undo the next keys of each; return how many of them are done with.

    Without `wait` a key that somebody is writing at this moment comes later.
    """
    known = {each.fence.txn: each for each in roll_backs}
    share = max(FEWEST, PIECE // len(roll_backs))
    tasks = [task for each in roll_backs for task in each.take(share)]
    later: list[Task] = []
    for task, error in isolated(tasks, partial(_undo, known, guard, wait, later)):
        known[task.txn].failures.append(error)
    for task in later:
        known[task.txn].left.append(task.restore)
    return len(tasks) - len(later)


def isolated(items: Sequence[T], act: Callable[[Sequence[T]], None]) -> list[tuple[T, Exception]]:
    """Act on all at once, or else on halves; return each that failed, with its error.

    What is lost or busy as a whole is raised.
    """
    if not items:
        return []
    try:
        act(items)
    except (LeaseLost, ConnectionLost):
        raise
    except FAILURES as error:
        if is_busy(error):
            raise
        if len(items) == 1:
            return [(items[0], error)]
        half = len(items) // 2
        return isolated(items[:half], act) + isolated(items[half:], act)
    return []


def _plan(roll_backs: Sequence[RollBack]) -> None:
    plans = undo.plans(each.fence.txn for each in roll_backs)
    for each in roll_backs:
        each.left = deque(plans[each.fence.txn])


def _undo(
    known: dict[int, RollBack],
    guard: Guard,
    wait: bool,
    later: list[Task],
    tasks: Sequence[Task],
) -> None:
    """Undo keys in one database transaction, unless somebody else wrote them since."""
    fences = {known[task.txn].fence for task in tasks}
    with atomic():
        guard()
        failpoint("undo.after_guard")
        held = undo.hold(sorted(fences), claim_seconds())
        failpoint("undo.after_fence")
        mine = [task for task in tasks if task.txn in held]
        free = undo.locked(mine, wait)
        examined = undo.examined(free)
        undo.restore([each for each in examined if not each.damage])
    failpoint("undo.after_commit")
    if len(free) < len(mine):
        keys = {task.restore.key for task in free}
        later += [task for task in mine if task.restore.key not in keys]
    for each in examined:
        if each.damage:
            sentence = f"line {each.task.restore.line} of {each.name}: {each.damage}"
            known[each.task.txn].damaged.append(sentence)
    for fence in fences:
        known[fence.txn].is_taken |= fence.txn not in held
