"""Documents as people and programs write them at the doors: each change with its event."""

from collections.abc import Callable

from django.db.transaction import atomic

from allocation.events import record
from allocation.transactions.response import Response


def told(kind: str, act: Callable[[], Response]) -> Response:
    """The change and its event in one database transaction; a refusal leaves neither."""
    with atomic():
        answer = act()
        if answer.ok:
            record(kind, f"document:{answer.collection}/{answer.key}", ref=answer.ref)
    return answer
