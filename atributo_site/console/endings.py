"""What an operator may do to a transaction, each after a page that shows what it does."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from allocation.logic.counted import counted
from allocation.models.clock import database_now
from allocation.transactions import operators
from allocation.transactions.models import Lock
from allocation.transactions.models import Transaction as Row
from atributo_site.console.confirmation import Confirmation
from atributo_site.console.journal import undo_preview
from atributo_site.console.terminal import REASON, curl
from atributo_site.console.transaction import found


class Ending(Confirmation):
    actions = {"GET": "transaction.end", "POST": "transaction.end"}
    command = ""

    def get(self, request: HttpRequest, **names: Any) -> HttpResponse:
        try:
            return super().get(request, **names)
        except operators.NotPossibleNow as error:
            messages.warning(request, str(error))
            return redirect(self.back(**names))

    def about(self, pk: int) -> dict[str, Any]:
        row = found(pk)
        if row.finished_at is not None:
            raise operators.NotPossibleNow(f"Transaction {pk} is over already: {row.status}.")
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


class RollBack(Ending):
    button = "Roll back transaction"
    command = "roll-back"

    def sentences(self, row: Row) -> list[str]:
        return [
            f"Every key that transaction {row.pk} wrote gets back what it was before.",
            "A key that somebody else wrote since is left alone.",
            f"Its locks are freed; {row.owner or 'its owner'} can write nothing more with it.",
        ]

    def act(self, reason: str, pk: int) -> str:
        restored = operators.roll_back(pk, reason)
        return f"Transaction {pk} is rolled back; keys restored: {restored}."


class Retry(RollBack):
    """Its roll back has begun already: whoever operates may hurry it."""

    actions = {"GET": "transaction.operate", "POST": "transaction.operate"}
    button = "Retry transaction"
    command = "retry"

    def sentences(self, row: Row) -> list[str]:
        often = counted(row.attempts, "time")
        return [
            f"The roll back of transaction {row.pk} failed {often}; it is tried now.",
            "If it fails again, the transaction stays stuck and keeps its locks.",
        ]

    def act(self, reason: str, pk: int) -> str:
        restored = operators.retry(pk, reason)
        return f"Transaction {pk} is rolled back at last; keys restored: {restored}."


class Complete(Ending):
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
        operators.complete(pk, reason)
        return f"Transaction {pk} is completed; what it wrote stands."
