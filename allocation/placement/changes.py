"""Follow what happens to placements: every change once, in the order of epochs.

PostgreSQL commits in any order, so a change may appear below one that was read. But whoever draws
an epoch holds the lock of the list until its transaction is over. The reader therefore goes up to
an epoch only after all who held the lock when it was the last one are gone.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Model, QuerySet

from allocation.errors import UnknownPosition
from allocation.models import Allocation, PastAllocation, Roster
from allocation.storage import store
from atributo_site.core.retry import retry_busy

PAGE = 500
EVERY_SECONDS = 0.5
OPEN_SECONDS = 0.02
MADE, MOVED, ENDED = "made", "moved", "ended"
BEGUN = ("epoch", "job_id", "instance_id", "allocated_at", "strategy", "actor", "labels")
OVER = ("ended_epoch", "job_id", "instance_id", "ended_at", "end_reason", "ended_by", "labels")


class PlacementChange(NamedTuple):
    """`position` is where to go on after it; `source` is where a moved job was before."""

    position: int
    kind: str
    job_id: str
    instance_id: str
    at: datetime
    reason: str
    actor: str
    labels: Mapping[str, str]
    source: str | None = None


class ChangeReader:
    """Read page after page; without a position from now on."""

    def __init__(self, using: str, after: int | None) -> None:
        self.using = using
        self._settled = 0  # nothing up to it is open
        self._next = 0  # the same, as soon as the open ones are over
        self._open: set[str] = set()
        last = retry_busy(store(using).last_epoch, using, repeatable=True)
        if after is None:
            self.position = last
        elif type(after) is not int or not 0 <= after <= last:
            raise UnknownPosition(f"there is no position {after!r}: the last one is {last}")
        else:
            self.position = after
            self._check_kept(after)

    def read(self) -> list[PlacementChange]:
        """Return the next changes; an empty list if there are none yet."""
        return retry_busy(self._read, self.using, repeatable=True)

    def pause(self, every_seconds: float) -> float:
        """Return how long to wait: shorter while open transactions are about to end."""
        return min(every_seconds, OPEN_SECONDS) if self._open else every_seconds

    def _read(self) -> list[PlacementChange]:
        after, until = self.position, self._settle()
        if until <= after:
            return []
        # In this order: a placement that ends meanwhile is in both tables, never in none.
        begun = _page(Allocation, "epoch", BEGUN, after, until, self.using)
        past = _page(PastAllocation, "epoch", BEGUN, after, until, self.using)
        over = _page(PastAllocation, "ended_epoch", OVER, after, until, self.using)
        self._check_kept(after)
        whole = min([until, *(page[-1][0] for page in (begun, past, over) if len(page) == PAGE)])
        self.position = whole
        return _merged([*begun, *past], over, whole)

    def _settle(self) -> int:
        rows = store(self.using)
        if self._open:
            self._open &= rows.drawing()
        if not self._open:
            self._settled = self._next
            self._next = rows.last_epoch()
            self._open = rows.drawing()
        if not self._open:
            self._settled = self._next
        return self._settled

    def _check_kept(self, after: int) -> None:
        gone = Roster.objects.using(self.using).values_list("forgotten_epoch", flat=True).first()
        if gone is not None and after < gone:
            raise UnknownPosition(f"the changes after {after} are forgotten up to {gone}")


def _page(
    model: type[Model], column: str, columns: tuple[str, ...], after: int, until: int, using: str
) -> list[Any]:
    rows: QuerySet[Any] = model._default_manager.using(using)
    within = rows.filter(**{f"{column}__gt": after, f"{column}__lte": until})
    return list(within.order_by(column).values_list(*columns)[:PAGE])


def _merged(begun: list[Any], over: list[Any], until: int) -> list[PlacementChange]:
    """Return one change per epoch: an end that is a beginning as well is a move."""
    left = {row[0]: row[2] for row in over}
    changes = {row[0]: _change(ENDED, row) for row in over}
    for row in begun:
        source = left.get(row[0])
        changes[row[0]] = _change(MADE if source is None else MOVED, row)._replace(source=source)
    return [changes[epoch] for epoch in sorted(changes) if epoch <= until]


def _change(kind: str, row: Any) -> PlacementChange:
    epoch, job_id, instance_id, at, reason, actor, labels = row
    return PlacementChange(epoch, kind, job_id, instance_id, at, reason, actor, labels or {})
