"""Read, write and search documents."""

import json as json_format
import sys
from functools import partial
from typing import Any

from django.core.management.base import CommandError

from allocation.transactions.documents import documents
from allocation.transactions.documents.client import Client
from allocation.transactions.engine.audited import recorded
from allocation.transactions.store import sql
from allocation.transactions.store.keys import Demand, Key, checked_ref
from allocation.transactions.store.response import Response
from atributo_site.commands import AtributoCommand, integer, with_json
from atributo_site.core.text import pluralize


class Command(AtributoCommand):
    help = "Read, write, list and search documents."

    def add_arguments(self, parser: Any) -> None:
        does = parser.add_subparsers(dest="does", required=True)
        for name in ("get", "put", "delete", "history"):
            one = with_json(does.add_parser(name))
            one.add_argument("collection")
            one.add_argument("key")
            which = one.add_mutually_exclusive_group()
            which.add_argument("--ref", help="The version that is meant or must match.")
            one.add_argument("--ignore-lock", action="store_true", help="Ignore transactions.")
            if name == "put":
                one.add_argument("value", help="JSON, or - for standard input.")
                which.add_argument("--create-only", action="store_true")
        for name in ("list", "search"):
            many = with_json(does.add_parser(name))
            many.add_argument("collection")
            many.add_argument("--limit", type=integer, default=100)
            if name == "search":
                many.add_argument("query", help="For example: age:>30 AND city:Paris")
                many.add_argument("--sort", default="", help="For example: age:desc")
        drop = with_json(does.add_parser("drop", help="Delete an entire collection."))
        drop.add_argument("collection")
        drop.add_argument("--yes", action="store_true", help="Really.")

    def perform(self, *, does: str, **options: Any) -> None:
        getattr(self, f"_{does}")(Client(), **options)

    def _get(self, client: Client, collection: str, key: str, **options: Any) -> None:
        free = not options["ignore_lock"]
        self._show_one(client.get(collection, key, options["ref"], free), options["json"])

    def _put(self, client: Client, collection: str, key: str, **options: Any) -> None:
        place, wanted = Key.of(collection, key), False if options["create_only"] else options["ref"]
        body, free = _parsed(options["value"]), not options["ignore_lock"]
        put = partial(documents.put, place, body, Demand.of(wanted), free)
        self._show_ref(recorded("document.put", place, put), options["json"])

    def _delete(self, client: Client, collection: str, key: str, **options: Any) -> None:
        place, purge = Key.of(collection, key), not options["ref"]
        wanted = Demand.of(checked_ref(options["ref"]), otherwise=sql.PRESENT)
        delete = partial(documents.delete, place, wanted, not options["ignore_lock"], purge)
        answer = recorded("document.deleted", place, delete, documents.way_of(purge))
        self._show_ref(answer, options["json"])

    def _history(self, client: Client, collection: str, key: str, **options: Any) -> None:
        self._show_many(client.refs(collection, key).next()["results"], options["json"])

    def _list(self, client: Client, collection: str, limit: int, **options: Any) -> None:
        self._show_many(client.list(collection, limit=limit).next()["results"], options["json"])

    def _search(self, client: Client, collection: str, **options: Any) -> None:
        words = {name: options[name] for name in ("sort", "limit")}
        pages = client.search(collection, options["query"], **words)
        self._show_many(pages.next()["results"], options["json"])

    def _drop(self, client: Client, collection: str, yes: bool, **options: Any) -> None:
        if not yes:
            raise CommandError("add --yes: dropping a collection cannot be undone.", returncode=2)
        answer = client.drop(collection)
        if options["json"]:
            return self.show(answer.json)
        self.stdout.write(f"{pluralize(answer['dropped'], 'document is', 'documents are')} gone.")

    def _show_one(self, answer: Response, as_json: bool) -> None:
        answer.raise_for_status()
        self.show({"ref": answer.ref, "value": answer.json} if as_json else answer.json)

    def _show_ref(self, answer: Response, as_json: bool) -> None:
        answer.raise_for_status()
        path = {"collection": answer.collection, "key": answer.key, "ref": answer.ref}
        if as_json:
            return self.show(path)
        self.stdout.write(answer.ref)

    def _show_many(self, results: list[dict[str, Any]], as_json: bool) -> None:
        if as_json:
            return self.show(results)
        rows = [[row["path"]["key"], row["path"]["ref"], _short(row)] for row in results]
        self.table(["key", "ref", "value"], rows)


def _parsed(text: str) -> Any:
    try:
        return json_format.loads(sys.stdin.read() if text == "-" else text)
    except ValueError as error:
        raise CommandError(f"the value is not JSON: {error}", returncode=2) from error


def _short(row: dict[str, Any]) -> str:
    if row["path"].get("tombstone"):
        return "(deleted)"
    text = json_format.dumps(row.get("value"), ensure_ascii=False)
    return text if len(text) <= 60 else text[:59] + "…"
