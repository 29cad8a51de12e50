"""Documents and transactions as people and programs change them at the doors: with events.

A change and its event are one database transaction; a refusal leaves neither.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeVar

from django.db.transaction import atomic

from allocation.busy import patiently
from allocation.events import record
from allocation.transactions import documents, operations, scripts
from allocation.transactions.keys import Key
from allocation.transactions.models import Transaction as Row
from allocation.transactions.models.document import new_ref
from allocation.transactions.response import Response
from allocation.transactions.roll_back import Tell
from allocation.transactions.transaction import Transaction

T = TypeVar("T")
KINDS = {201: "transaction.put", 204: "transaction.deleted"}  # by the answer of an operation
LOCKED = "transaction.locked"  # read, or only held


def told(
    kind: str, place: Key, act: Callable[[str], Response], way: documents.Way = documents.once
) -> Response:
    """Write under one ref, as often as its answer gets lost: it stands once, with one event."""
    ref, answers = new_ref(), list[Response]()

    def write() -> list[scripts.Row]:
        with atomic():
            answer = act(ref)
            answers.append(answer)
            if answer.ok:
                record(kind, f"document:{'/'.join(place)}", ref=ref)
        return [(ref,)] if answer.ok else []

    written = way(write, place, ref)
    return [answer for answer in answers if answer.ok or not written][-1]


class ToldTransaction(Transaction):
    """A transaction that is held at a door: what is done with it leaves events."""

    @classmethod
    def begin(cls, caller: str, label: str = "") -> "ToldTransaction":
        """Its owner is the actor; the label is what the caller says of itself."""

        def begun() -> ToldTransaction:
            with atomic():
                txn = cls.attach(*operations.begin(label=label, caller=caller))
                txn._record("transaction.began", label=label)
            return txn

        return patiently(begun, repeatable=True)

    def _operate(
        self, act: Callable[[Key], T], collection: str, key: str, mode: str, wait: float | None
    ) -> T:
        def act_and_tell(place: Key) -> T:
            with atomic():
                done = act(place)
                kind = KINDS.get(getattr(done, "status_code", 200), LOCKED)
                self._record(kind, document="/".join(place))
            return done

        return super()._operate(act_and_tell, collection, key, mode, wait)

    def _live_on(self) -> datetime | None:
        with atomic():
            expires_at = super()._live_on()
            if expires_at is not None:
                self._record("transaction.renewed", until=expires_at.isoformat())
        return expires_at

    def _pass_commit_point(self) -> bool:
        """Told once: whoever completes it again finds it completed."""
        with atomic():
            mine = Row.objects.select_for_update().filter(pk=self.id)
            was = mine.values_list("status", flat=True).first()
            completed = super()._pass_commit_point()
            if completed and was == Row.Status.ACTIVE:
                self._record("transaction.completed")
        return completed

    def _teller(self, cause: str) -> Tell:
        def tell(restored: int) -> None:
            self._record("transaction.rolled_back", cause=cause, restored=restored)

        return tell

    def _record(self, kind: str, **facts: Any) -> None:
        record(kind, f"transaction:{self.id}", **facts)
