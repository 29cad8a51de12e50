"""What the curator does for flows: wake those that nobody has woken, and forget unused ones."""

import time
from collections.abc import Callable

from atributo_site.core.database import dialect, execute
from atributo_site.core.models.clock import from_now
from queues.flow import flows
from queues.flow.sql import statements as sql
from queues.models import Flow, Gate, HeldPush, Rate

MOST_FLOWS = 1000  # that one look reads
SHARE = 20  # a look may take one part in so many of the curator's time
LONGEST_PAUSE_SECONDS = 10.0
UNUSED_SECONDS = 86_400
DAY_US = 86_400_000_000


class Flows:
    """Look at all flows in which jobs wait, piece by piece; the longer it takes, the rarer."""

    def __init__(
        self, most: int = MOST_FLOWS, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._most = most
        self._monotonic = monotonic
        self._not_before = 0.0
        self._after = 0

    def tend(self) -> int:
        """Wake flows that are not ready and wait for no moment; return how many became ready."""
        begun = self._monotonic()
        if begun < self._not_before or not Gate.objects.exists():
            return 0
        asked = {"after": self._after, "limit": self._most}
        rows = execute(sql.untended(dialect()), asked).rows
        self._after = rows[-1][0] if len(rows) == self._most else 0
        idle: dict[int, list[int]] = {}
        for flow_id, queue_id, is_idle in rows:
            if queue_id is not None and is_idle:
                idle.setdefault(queue_id, []).append(flow_id)
        woken = sum(flows.wake(queue_id, ids, ended=True).total() for queue_id, ids in idle.items())
        ended = self._monotonic()
        self._not_before = ended + min(SHARE * (ended - begun), LONGEST_PAUSE_SECONDS)
        return woken


def forget_unused(limit: int) -> int:
    """Delete flows without unfinished jobs, and rates whose buckets have long been full."""
    if HeldPush.objects.exists():  # one of them may be for such a flow
        return 0
    asked = {"unused_seconds": -UNUSED_SECONDS, "limit": limit}
    ids = [row[0] for row in execute(sql.unused(dialect()), asked).rows]
    return Flow.objects.filter(pk__in=ids, used_at__lt=from_now(-UNUSED_SECONDS)).delete()[0]


def forget_full_rates(now_us: int, limit: int) -> int:
    full = Rate.objects.filter(full_at__lt=now_us - DAY_US).order_by("pk")
    ids = list(full.values_list("pk", flat=True)[:limit])
    return Rate.objects.filter(pk__in=ids).delete()[0]
