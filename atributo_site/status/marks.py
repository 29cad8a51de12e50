"""What has changed anywhere since the last look, for the hints that open pages get.

A hint is not history: it is found by comparing marks of the tables, so that no start and no end of
a job needs an event, and a change by anybody is seen.
"""

from collections.abc import Callable, Hashable, Mapping
from secrets import token_hex

from django.db.models import Count, Q, Sum

from allocation import marks as allocation
from allocation.transactions.curator import marks as transactions
from atributo_site.core.models import Lease
from pools import marks as pools
from queues.queries import marks as queues

Marks = Mapping[str, Hashable]


class Generation:
    """Number the hints of this process: a page knows by it whether it shows what the last one said.

    While nobody listens no marks are read: the name changes then, and no page trusts its number.
    """

    def __init__(self) -> None:
        self._number = 0
        self.name = ""

    def begin(self) -> None:
        self._number = 0
        self._prefix = token_hex(4)
        self.advance()

    def advance(self) -> None:
        self._number += 1
        self.name = f"{self._prefix}.{self._number}"

    def newest_after(self, name: str) -> str:
        """Return the newest name if this is one of ours: what is read now shows all it told of."""
        prefix, _, number = name.partition(".")
        newest = self.name.partition(".")
        is_ours = prefix == newest[0] and number.isdecimal() and len(number) <= len(newest[2])
        return self.name if is_ours and 0 < int(number) <= int(newest[2]) else ""


generation = Generation()


def marks(of_pools: Callable[[], Marks] = pools.marks) -> Marks:
    """Read the marks of every room, by a constant number of queries."""
    return {
        **allocation.marks(),
        **transactions.marks(),
        **queues.marks(),
        **of_pools(),
        "process": _processes(),
    }


def changed(before: Marks, after: Marks) -> set[str]:
    """Return the kinds of subjects whose mark differs."""
    return {kind for kind, mark in after.items() if before.get(kind) != mark}


def _processes() -> Hashable:
    held = Count("pk", filter=~Q(holder=""))
    return tuple(Lease.objects.aggregate(n=Count("pk"), held=held, tokens=Sum("token")).values())
