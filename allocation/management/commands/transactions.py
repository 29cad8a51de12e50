"""List transactions, show one, and end one by hand."""

from typing import Any

from allocation.transactions.curator import operator_actions
from allocation.transactions.errors import TransactionNotFound
from allocation.transactions.models import JournalEntry, Transaction
from atributo_site.commands import AtributoCommand, integer, listed_number, with_json

KINDS = {
    "open": lambda rows: rows.unfinished(),
    "stuck": lambda rows: rows.stuck(),
    "finished": lambda rows: rows.finished(),
}


class Command(AtributoCommand):
    help = "List transactions, show a journal, and end one with a reason."

    def add_arguments(self, parser: Any) -> None:
        does = parser.add_subparsers(dest="does", required=True)
        listed = with_json(does.add_parser("list"))
        listed.add_argument("--kind", choices=KINDS, default="open")
        listed.add_argument("--limit", type=listed_number, default=50)
        show = with_json(does.add_parser("show", help="One with its journal."))
        show.add_argument("id", type=integer)
        for name in ("roll-back", "complete", "retry"):
            act = with_json(does.add_parser(name))
            act.add_argument("id", type=integer)
            act.add_argument("--reason", required=True)

    def perform(self, *, does: str, **options: Any) -> None:
        getattr(self, f"_{does.replace('-', '_')}")(**options)

    def _list(self, *, kind: str, limit: int, json: bool, **options: Any) -> None:
        rows = KINDS[kind](Transaction.objects.all()).order_by("-pk")[:limit]
        facts = [_facts(row) for row in rows]
        if json:
            return self.show(facts)
        columns = ["id", "status", "owner", "started_at", "expires_at", "error"]
        self.table(columns, [[fact[name] for name in columns] for fact in facts])

    def _show(self, *, id: int, json: bool, **options: Any) -> None:
        row = Transaction.objects.filter(pk=id).first()
        if row is None:
            raise TransactionNotFound(f"there is no transaction {id}")
        entries = JournalEntry.objects.filter(transaction=row).with_documents()
        journal = [_entry(entry) for entry in entries[:1000]]
        if json:
            return self.show({**_facts(row), "journal": journal})
        self.table(["", ""], [[name, value] for name, value in _facts(row).items()])
        self.table(["action", "document", "before", "undo"], [_line(each) for each in journal])

    def _roll_back(self, *, id: int, reason: str, **options: Any) -> None:
        restored = operator_actions.roll_back(id, reason)
        self._say(options["json"], f"rolled back, {restored} restored", id)

    def _complete(self, *, id: int, reason: str, **options: Any) -> None:
        operator_actions.complete(id, reason)
        self._say(options["json"], "completed", id)

    def _retry(self, *, id: int, reason: str, **options: Any) -> None:
        restored = operator_actions.retry(id, reason)
        self._say(options["json"], f"rolled back, {restored} restored", id)

    def _say(self, as_json: bool, sentence: str, pk: int) -> None:
        if as_json:
            return self.show(_facts(Transaction.objects.get(pk=pk)))
        self.stdout.write(f"transaction {pk}: {sentence}")


def _facts(row: Transaction) -> dict[str, Any]:
    names = ["status", "epoch", "owner", "label", "channel", "cause", "reason", "error", "attempts"]
    times = ["started_at", "expires_at", "limit_at", "finished_at"]
    return {"id": row.pk, **{name: getattr(row, name) for name in names + times}}


def _entry(entry: JournalEntry) -> dict[str, Any]:
    return {
        "action": entry.action,
        "document": entry.document_name,
        "before_present": entry.before_present,
        "before": entry.before_value,
        "undo": entry.undo,
    }


def _line(facts: dict[str, Any]) -> list[Any]:
    before = facts["before"] if facts["before_present"] else "(nothing)"
    return [facts["action"], facts["document"], before, facts["undo"]]
