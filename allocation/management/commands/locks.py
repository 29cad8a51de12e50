"""List locks, and release one by force."""

from typing import Any

from django.db.models import Count

from allocation.transactions.curator import operator_actions
from allocation.transactions.models import Lock
from atributo_site.commands import AtributoCommand, integer, listed_number, with_json


class Command(AtributoCommand):
    help = "List locks, or release one by force."

    def add_arguments(self, parser: Any) -> None:
        does = parser.add_subparsers(dest="does", required=True)
        listed = with_json(does.add_parser("list"))
        listed.add_argument("--collection")
        listed.add_argument("--limit", type=listed_number, default=100)
        release = with_json(does.add_parser("release", help="A running holder is rolled back."))
        release.add_argument("id", type=integer)
        release.add_argument("--reason", required=True)

    def perform(self, *, does: str, **options: Any) -> None:
        getattr(self, f"_{does}")(**options)

    def _list(self, *, collection: str | None, limit: int, json: bool, **options: Any) -> None:
        locks = Lock.objects.with_names().annotate(waiting=Count("document__waits"))
        if collection:
            locks = locks.filter(document__collection=collection)
        facts = [_facts(lock) for lock in locks[:limit]]
        if json:
            return self.show(facts)
        columns = ["id", "document", "mode", "token", "holder", "expires_at", "waiters"]
        self.table(columns, [[fact[name] for name in columns] for fact in facts])

    def _release(self, *, id: int, reason: str, json: bool, **options: Any) -> None:
        operator_actions.force_release(id, reason)
        if json:
            return self.show({"released": id})
        self.stdout.write(f"lock {id} is released")


def _facts(lock: Any) -> dict[str, Any]:
    return {
        "id": lock.pk,
        "document": str(lock.document),
        "mode": lock.mode,
        "token": lock.token,
        "holder": lock.transaction_id,
        "acquired_at": lock.acquired_at,
        "expires_at": lock.transaction.expires_at,
        "waiters": lock.waiting,
    }
