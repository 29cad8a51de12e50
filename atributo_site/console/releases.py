"""Free a key by force, and hand over the curator's role; each with a reason."""

from typing import Any

from django.urls import reverse

from allocation.models.clock import database_now
from allocation.transactions import operators
from allocation.transactions.curators import NobodyIsActive, curators, hand_over
from allocation.transactions.errors import LockNotFound
from allocation.transactions.models import Lock, Transaction
from atributo_site.console import holders
from atributo_site.console.confirmation import Confirmation
from atributo_site.console.journal import undo_preview
from atributo_site.console.terminal import REASON, curl


class Release(Confirmation):
    actions = {"GET": "lock.release", "POST": "lock.release"}
    button = "Release the lock"
    gone_to = "transactions-locks"

    def about(self, pk: int) -> dict[str, Any]:
        lock = Lock.objects.with_names().filter(pk=pk).first()
        if lock is None:
            raise LockNotFound("That lock is free already.")
        active = lock.transaction.status == Transaction.Status.ACTIVE
        return {
            "row": lock.transaction,
            "lock": lock,
            "heading": f"Release the lock on {lock.document}",
            "sentences": [*_consequences(lock), *holders.consequences(lock.transaction_id)],
            "preview": undo_preview(lock.transaction_id) if active else [],
            "previews": active,
            "held": Lock.objects.filter(transaction=lock.transaction_id).count(),
            "command": f"manage.py locks release {pk} --reason '…'",
            "rest": curl(f"/api/v1/locks/{pk}/release", "POST", REASON),
            "now": database_now(),
        }

    def act(self, reason: str, pk: int) -> str:
        key = self.about(pk)["lock"].document
        operators.force_release(pk, reason)
        return f"The lock on {key} is released."

    def back(self, pk: int) -> str:
        return reverse("transactions-locks")


def _consequences(lock: Lock) -> list[str]:
    holder = f"transaction {lock.transaction_id} of {lock.transaction.owner or 'nobody'}"
    if lock.transaction.status == Transaction.Status.ACTIVE:
        return [
            f"The holder still runs, so {holder} is rolled back as a whole.",
            "All its locks are freed, not only this one.",
        ]
    if lock.transaction.finished_at is not None:
        return [f"The holder, {holder}, is over; only the forgotten lock goes."]
    return [
        f"Only this key is freed; {holder} stays {lock.transaction.status}.",
        "The key keeps the value that was never committed, until the roll back succeeds.",
        "Whoever writes it from now on is not undone by that roll back.",
    ]


class HandOver(Confirmation):
    actions = {"GET": "curator.hand_over", "POST": "curator.hand_over"}
    button = "Hand over"
    gone_to = "transactions-curators"

    def about(self) -> dict[str, Any]:
        running = curators(database_now())
        active = next((each["name"] for each in running if each["active"]), None)
        if active is None:
            raise NobodyIsActive("No curator is active, so there is nothing to hand over.")
        return {
            "heading": f"Hand over from {active}",
            "sentences": _successors([each["name"] for each in running if not each["active"]]),
            "rest": curl("/api/v1/curators/hand_over", "POST", REASON),
            "now": database_now(),
        }

    def act(self, reason: str) -> str:
        hand_over(reason)
        return "The role is free; the first curator that looks takes it."

    def back(self) -> str:
        return reverse("transactions-curators")


def _successors(standbys: list[str]) -> list[str]:
    if not standbys:
        return ["Nobody stands by: the same curator may take the role again at once."]
    return [
        "The active curator loses the role at once and writes nothing more.",
        f"The first to look takes over: {', '.join(standbys[:5])} or the same again.",
    ]
