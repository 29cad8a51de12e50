"""What an operator may do to a transaction, each after a page that shows what it does.

Free a key by force, and hand over the curator's role; each with a reason.
"""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from allocation.transactions.curator import operator_actions
from allocation.transactions.curator.status import NobodyIsActive, curators, hand_over
from allocation.transactions.errors import LockNotFound
from allocation.transactions.models import Lock, Transaction
from allocation.transactions.models import Transaction as Row
from atributo_site.console.base.confirmation import Confirmation
from atributo_site.console.base.terminal import REASON, curl
from atributo_site.console.transactions import locks
from atributo_site.console.transactions.detail import transaction_or_404
from atributo_site.console.transactions.journal import undo_preview
from atributo_site.core.models.clock import database_now
from atributo_site.core.text import pluralize


class TransactionAction(Confirmation):
    actions = {"GET": "transaction.end", "POST": "transaction.end"}
    command = ""

    def get(self, request: HttpRequest, **names: Any) -> HttpResponse:
        try:
            return super().get(request, **names)
        except operator_actions.NotPossibleNow as error:
            messages.warning(request, str(error))
            return redirect(self.back(**names))

    def about(self, pk: int) -> dict[str, Any]:
        row = transaction_or_404(pk)
        if row.finished_at is not None:
            raise operator_actions.NotPossibleNow(
                f"Transaction {pk} is over already: {row.status}."
            )
        return {
            "row": row,
            "heading": f"{self.button} {pk}",
            "sentences": self.sentences(row),
            "preview": undo_preview(pk),
            "previews": True,
            "held": Lock.objects.filter(transaction=row).count(),
            "command": f"manage.py transactions {self.command} {pk} --reason '…'",
            "rest": curl(f"/api/v1/transactions/{pk}/{self.path}", "POST", REASON),
            "now": database_now(),
        }

    @property
    def path(self) -> str:
        return self.command.replace("-", "_")

    def sentences(self, row: Row) -> list[str]:
        raise NotImplementedError

    def back(self, pk: int) -> str:
        return reverse("transaction", args=[pk])


class RollBack(TransactionAction):
    button = "Roll back transaction"
    command = "roll-back"

    def sentences(self, row: Row) -> list[str]:
        return [
            f"Every key that transaction {row.pk} wrote gets back what it was before.",
            "A key that somebody else wrote since is left alone.",
            f"Its locks are freed; {row.owner or 'its owner'} can write nothing more with it.",
        ]

    def act(self, reason: str, pk: int) -> str:
        restored = operator_actions.roll_back(pk, reason)
        return f"Transaction {pk} is rolled back; keys restored: {restored}."


class Retry(RollBack):
    """Its roll back has begun already: whoever operates may hurry it."""

    actions = {"GET": "transaction.operate", "POST": "transaction.operate"}
    button = "Retry transaction"
    command = "retry"

    def sentences(self, row: Row) -> list[str]:
        often = pluralize(row.attempts, "time")
        return [
            f"The roll back of transaction {row.pk} failed {often}; it is tried now.",
            "If it fails again, the transaction stays stuck and keeps its locks.",
        ]

    def act(self, reason: str, pk: int) -> str:
        restored = operator_actions.retry(pk, reason)
        return f"Transaction {pk} is rolled back at last; keys restored: {restored}."


class Complete(TransactionAction):
    button = "Complete transaction"
    command = "complete"

    def sentences(self, row: Row) -> list[str]:
        return [
            f"Everything that transaction {row.pk} wrote so far stands for good.",
            f"Its locks are freed; {row.owner or 'its owner'} can write nothing more with it,"
            " even if it is half done.",
        ]

    def about(self, pk: int) -> dict[str, Any]:
        return {**super().about(pk), "keeps": True}

    def act(self, reason: str, pk: int) -> str:
        operator_actions.complete(pk, reason)
        return f"Transaction {pk} is completed; what it wrote stands."


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
            "sentences": [*_consequences(lock), *locks.consequences(lock.transaction_id)],
            "preview": undo_preview(lock.transaction_id) if active else [],
            "previews": active,
            "held": Lock.objects.filter(transaction=lock.transaction_id).count(),
            "command": f"manage.py locks release {pk} --reason '…'",
            "rest": curl(f"/api/v1/locks/{pk}/release", "POST", REASON),
            "now": database_now(),
        }

    def act(self, reason: str, pk: int) -> str:
        key = self.about(pk)["lock"].document
        operator_actions.force_release(pk, reason)
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
