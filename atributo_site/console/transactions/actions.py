"""End a transaction, free a key or hand over the curator's role, each with a reason."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from allocation.transactions.curator import operator_actions
from allocation.transactions.curator.status import NobodyIsActive, curators, hand_over
from allocation.transactions.engine.roll_back import FAILURES
from allocation.transactions.errors import LockNotFound
from allocation.transactions.models import Lock, Transaction
from atributo_site.console.base.actions import Confirmation
from atributo_site.console.base.forms import reason_of
from atributo_site.console.base.terminal import REASON, curl
from atributo_site.console.transactions import locks
from atributo_site.console.transactions.detail import transaction_or_404
from atributo_site.console.transactions.journal import undo_preview
from atributo_site.core.models.clock import database_now
from atributo_site.core.text import pluralize


class OperatorAction(Confirmation):
    """Ask for a reason, without which nothing is done."""

    template_name = "console/transactions/actions.html"
    refusals = FAILURES
    button = ""

    def post(self, request: HttpRequest, **names: Any) -> HttpResponse:
        self.load(**names)
        self.reason = reason_of(request)
        if not self.reason:
            return self.ask(400, error="Enter a reason.")
        return self.perform()

    def ask(self, status: int = 200, **context: Any) -> HttpResponse:
        reason = self.request.POST.get("reason", "")
        common = {"button": self.button, "reason": reason, "now": database_now()}
        return super().ask(status, **common, **context)

    def refuse(self, error: Exception) -> HttpResponse:
        messages.error(self.request, f"Nothing was changed: {error}")
        return redirect(self.back())


class TransactionAction(OperatorAction):
    actions = {"GET": "transaction.end", "POST": "transaction.end"}
    command = ""
    row: Transaction

    def load(self, pk: int) -> None:
        self.row = transaction_or_404(pk)
        if self.row.finished_at is not None:
            self.gone_to = self.back()
            over = f"Transaction {pk} has already ended: {self.row.status}."
            raise operator_actions.NotPossibleNow(over)

    def question(self) -> dict[str, Any]:
        pk = self.row.pk
        path = self.command.replace("-", "_")
        return {
            **about_transaction(self.row),
            "heading": f"{self.button} {pk}",
            "sentences": self.sentences(self.row),
            "preview": undo_preview(pk),
            "previews": True,
            "command": f"manage.py transactions {self.command} {pk} --reason '…'",
            "rest": curl(f"/api/v1/transactions/{pk}/{path}", "POST", REASON),
        }

    def sentences(self, row: Transaction) -> list[str]:
        """Return what happens, one consequence each."""
        raise NotImplementedError

    def back(self) -> str:
        return reverse("atributo:transaction", args=[self.row.pk])


class RollBack(TransactionAction):
    button = "Roll back transaction"
    command = "roll-back"

    def sentences(self, row: Transaction) -> list[str]:
        return [
            f"Every document that transaction {row.pk} wrote gets its previous value back.",
            "Documents that somebody else has written since then are left alone.",
            f"Its locks are released, and {row.owner or 'its owner'} can no longer write with it.",
        ]

    def act(self) -> str:
        restored = operator_actions.roll_back(self.row.pk, self.reason)
        return f"Transaction {self.row.pk} is rolled back. Documents restored: {restored}."


class Retry(TransactionAction):
    """Try a rollback again that has begun already; operators may do that, too."""

    actions = {"GET": "transaction.operate", "POST": "transaction.operate"}
    button = "Try again to roll back transaction"
    command = "retry"

    def sentences(self, row: Transaction) -> list[str]:
        often = pluralize(row.attempts, "time")
        return [
            f"The rollback of transaction {row.pk} failed {often}. It is retried now.",
            "If it fails again, the transaction stays stuck and keeps its locks.",
        ]

    def act(self) -> str:
        restored = operator_actions.retry(self.row.pk, self.reason)
        return f"Transaction {self.row.pk} is rolled back. Documents restored: {restored}."


class Complete(TransactionAction):
    button = "Keep the changes of transaction"
    command = "complete"

    def question(self) -> dict[str, Any]:
        return {**super().question(), "keeps": True}

    def sentences(self, row: Transaction) -> list[str]:
        return [
            f"Everything that transaction {row.pk} has written becomes permanent.",
            f"Its locks are released, and {row.owner or 'its owner'} can no longer write with it,"
            " even if it is only half done.",
        ]

    def act(self) -> str:
        operator_actions.complete(self.row.pk, self.reason)
        return f"Transaction {self.row.pk} is complete. Its changes are kept."


class Release(OperatorAction):
    actions = {"GET": "lock.release", "POST": "lock.release"}
    button = "Release lock"
    gone_to = "atributo:transactions-locks"

    def load(self, pk: int) -> None:
        lock = Lock.objects.with_names().filter(pk=pk).first()
        if lock is None:
            raise LockNotFound("That lock is already released.")
        self.lock = lock

    def question(self) -> dict[str, Any]:
        lock = self.lock
        is_active = lock.transaction.status == Transaction.Status.ACTIVE
        return {
            **about_transaction(lock.transaction),
            "lock": lock,
            "heading": f"Release the lock on {lock.document}",
            "sentences": [*_consequences(lock), *locks.consequences(lock.transaction_id)],
            "preview": undo_preview(lock.transaction_id) if is_active else [],
            "previews": is_active,
            "command": f"manage.py locks release {lock.pk} --reason '…'",
            "rest": curl(f"/api/v1/locks/{lock.pk}/release", "POST", REASON),
        }

    def act(self) -> str:
        operator_actions.force_release(self.lock.pk, self.reason)
        return f"The lock on {self.lock.document} is released."

    def back(self) -> str:
        return reverse("atributo:transactions-locks")


def about_transaction(row: Transaction) -> dict[str, Any]:
    page = reverse("atributo:transaction", args=[row.pk])
    return {
        "row": row,
        "held": Lock.objects.filter(transaction=row).count(),
        "crumbs": [("Transactions", reverse("atributo:transactions")), (str(row.pk), page)],
    }


def _consequences(lock: Lock) -> list[str]:
    holder = f"transaction {lock.transaction_id} of {lock.transaction.owner or 'no owner'}"
    if lock.transaction.status == Transaction.Status.ACTIVE:
        return [
            f"The holder is still running, so all of {holder} is rolled back.",
            "All its locks are released, not only this one.",
        ]
    if lock.transaction.finished_at is not None:
        return [f"The holder, {holder}, has ended. Only the leftover lock is released."]
    return [
        f"Only this document is released; {holder} stays {lock.transaction.status}.",
        "The document keeps its uncommitted value until the rollback succeeds.",
        "That rollback will not undo anything written from now on.",
    ]


class HandOver(OperatorAction):
    actions = {"GET": "curator.hand_over", "POST": "curator.hand_over"}
    button = "Hand over"
    gone_to = "atributo:transactions-curators"

    def load(self) -> None:
        self.curators = curators(database_now())
        if not any(each["active"] for each in self.curators):
            raise NobodyIsActive("No curator is active, so there is nothing to hand over.")

    def question(self) -> dict[str, Any]:
        active = next(each["name"] for each in self.curators if each["active"])
        standbys = [each["name"] for each in self.curators if not each["active"]]
        return {
            "crumbs": [("Transactions", reverse("atributo:transactions"))],
            "heading": f"Hand over from {active}",
            "sentences": _successors(standbys),
            "rest": curl("/api/v1/curators/hand_over", "POST", REASON),
        }

    def act(self) -> str:
        hand_over(self.reason)
        return "The role is free. The next curator to check takes it."

    def back(self) -> str:
        return reverse("atributo:transactions-curators")


def _successors(standbys: list[str]) -> list[str]:
    if not standbys:
        return ["No curator is on standby, so the same one may take the role again right away."]
    return [
        "The active curator loses the role immediately and writes nothing more.",
        f"The first to check takes over: {', '.join(standbys[:5])} or the same again.",
    ]
