"""Change documents by REST or commands, with an audit event for each change.

A change and its event are one database transaction; a refusal stores neither.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeVar

from django.db.transaction import atomic

from allocation.transactions.documents import documents
from allocation.transactions.engine import operations
from allocation.transactions.engine.roll_back import RecordEnd
from allocation.transactions.engine.transaction import Transaction
from allocation.transactions.models import Transaction as Row
from allocation.transactions.models.document import new_ref
from allocation.transactions.store import statements
from allocation.transactions.store.keys import Key
from allocation.transactions.store.response import Response
from atributo_site.core.events import record
from atributo_site.core.retry import retry_busy

T = TypeVar("T")
KINDS = {201: "transaction.put", 204: "transaction.deleted"}  # by the status of the answer
LOCKED = "transaction.locked"  # for a key that was read or only locked


def recorded(
    kind: str, place: Key, act: Callable[[str], Response], way: documents.Way = documents.once
) -> Response:
    """Write under one ref, as often as its answer gets lost: it stands once, with one event."""
    ref, answers = new_ref(), list[Response]()

    def write() -> list[statements.Row]:
        with atomic():
            answer = act(ref)
            answers.append(answer)
            if answer.ok:
                record(kind, f"document:{'/'.join(place)}", ref=ref)
        return [(ref,)] if answer.ok else []

    written = way(write, place, ref)
    return [answer for answer in answers if answer.ok or not written][-1]


class AuditedTransaction(Transaction):
    """A transaction that is held over REST: every operation leaves an event."""

    @classmethod
    def begin(cls, caller: str, label: str = "") -> "AuditedTransaction":
        """Begin a transaction owned by the actor; the caller chooses the label."""

        def begun() -> AuditedTransaction:
            with atomic():
                txn = cls.attach(*operations.begin(label=label, caller=caller))
                txn._record("transaction.began", label=label)
            return txn

        return retry_busy(begun, repeatable=True)

    def _operate(
        self, act: Callable[[Key], T], collection: str, key: str, mode: str, wait: float | None
    ) -> T:
        def act_and_record(place: Key) -> T:
            with atomic():
                done = act(place)
                kind = KINDS.get(getattr(done, "status_code", 200), LOCKED)
                self._record(kind, document="/".join(place))
            return done

        return super()._operate(act_and_record, collection, key, mode, wait)

    def _live_on(self) -> datetime | None:
        with atomic():
            expires_at = super()._live_on()
            if expires_at is not None:
                self._record("transaction.renewed", until=expires_at.isoformat())
        return expires_at

    def _pass_commit_point(self) -> bool:
        """Record the completion once: who completes it again changes nothing."""
        with atomic():
            mine = Row.objects.select_for_update().filter(pk=self.id)
            was = mine.values_list("status", flat=True).first()
            completed = super()._pass_commit_point()
            if completed and was == Row.Status.ACTIVE:
                self._record("transaction.completed")
        return completed

    def _recorder(self, cause: str) -> RecordEnd:
        def record_end(restored: int) -> None:
            self._record("transaction.rolled_back", cause=cause, restored=restored)

        return record_end

    def _record(self, kind: str, **facts: Any) -> None:
        record(kind, f"transaction:{self.id}", **facts)
