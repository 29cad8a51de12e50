"""Watch names in DNS, show their backends and decide what becomes of them."""

import argparse
import json
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError

from atributo_site.commands import EXIT_USAGE, AtributoCommand, decimal, integer, listed_number
from pools import configuration
from pools.api.serializers import BackendChangeSerializer, BackendSerializer, PoolSerializer
from pools.configuration import administer, pool_named, still_held
from pools.models import Backend, BackendChange, Pool
from pools.reporting.live_view import with_live

ADMINISTRATIVE = list(Backend.Administrative.values)


class Command(AtributoCommand):
    help = "List watched names; watch, change, forget or look them up; decide about backends."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True, metavar="verb")
        _verb(verbs, "list", "list all watched names")
        for verb, words in (("watch", "watch a new name"), ("change", "change how it is watched")):
            _settings(_verb(verbs, verb, words, "name"), is_new=verb == "watch")
        _verb(verbs, "show", "one name with all that is known", "name")
        _verb(verbs, "backends", "the backends of a name", "name")
        changes = _verb(verbs, "changes", "what happened to a name, newest first", "name")
        changes.add_argument("--limit", type=listed_number, default=20)
        _verb(verbs, "resolve", "let the watcher look again now", "name")
        _verb(verbs, "forget", "stop watching it; its instances stay", "name")
        for verb in ADMINISTRATIVE:
            decide = _verb(verbs, verb, f"set a backend to {verb}", "name", "key")
            decide.add_argument("--reason", default="")

    def perform(self, verb: str, **options: Any) -> None:
        if verb in ADMINISTRATIVE:
            return self._administer(verb, **options)
        getattr(self, f"_{verb}")(**options)

    def _list(self, **options: Any) -> None:
        rows = list(Pool.objects.order_by("name"))
        if options["json"]:
            return self.show(PoolSerializer(rows, many=True).data)
        columns = ["name", "looked for", "state", "since", "next lookup", "last error"]
        self.table(columns, [_line(pool) for pool in rows])

    def _show(self, name: str, **options: Any) -> None:
        facts = PoolSerializer(pool_named(name)).data
        if options["json"]:
            return self.show(facts)
        steps = facts.pop("steps")
        self.table(["", ""], [[key, _as_text(value)] for key, value in facts.items()])
        columns = ["server", "name", "type", "attempt", "took_ms", "result", "ttl_seconds"]
        self.table(columns, [[_as_text(step[column]) for column in columns] for step in steps])

    def _watch(self, name: str, **options: Any) -> None:
        self._print_pool(_checked(configuration.watch, name, **_given(options)), **options)

    def _change(self, name: str, **options: Any) -> None:
        self._print_pool(_checked(configuration.change, name, **_given(options)), **options)

    def _resolve(self, name: str, **options: Any) -> None:
        self._print_pool(configuration.ask_now(name), **options)

    def _forget(self, name: str, **options: Any) -> None:
        configuration.forget(name)
        if options["json"]:
            return self.show({"forgotten": name})
        self.stdout.write(f"{name} is no longer watched. Its instances stay as they are.")

    def _backends(self, name: str, **options: Any) -> None:
        rows = with_live(pool_named(name).backends.order_by("id"))
        facts = BackendSerializer(rows, many=True).data
        if options["json"]:
            return self.show(facts)
        columns = ["key", "instance_id", "name", "state", "administrative", "last_seen_at"]
        self.table(columns, [[row[column] for column in columns] for row in facts])

    def _changes(self, name: str, limit: int, **options: Any) -> None:
        rows = BackendChange.objects.filter(pool=pool_named(name)).order_by("-id")[:limit]
        facts = BackendChangeSerializer(rows, many=True).data
        if options["json"]:
            return self.show(facts)
        columns = ["at", "kind", "backend", "detail", "actor"]
        self.table(columns, [[row[column] for column in columns] for row in facts])

    def _administer(self, verb: str, name: str, key: str, reason: str, **options: Any) -> None:
        backend = administer(name, key, verb, reason)
        if options["json"]:
            return self.show({"backend": backend.key, "administrative": backend.administrative})
        self.stdout.write(f"{backend.instance_id} of {name}: {backend.administrative}.")
        if warning := still_held(backend):
            self.stderr.write(warning)

    def _print_pool(self, pool: Pool, **options: Any) -> None:
        if options["json"]:
            return self.show(PoolSerializer(pool).data)
        watched = "is watched" if pool.is_watched else "is paused"
        self.stdout.write(f"{pool.name}: {pool.service_name} {watched}, epoch {pool.epoch}.")


def _verb(verbs: Any, name: str, words: str, *arguments: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = verbs.add_parser(name, help=words, description=words)
    for argument in arguments:
        parser.add_argument(argument)
    parser.add_argument("--json", action="store_true", default=argparse.SUPPRESS)
    return parser


def _settings(parser: argparse.ArgumentParser, is_new: bool) -> None:
    parser.add_argument("--domain", required=is_new)
    parser.add_argument("--service", help="SRV label, for example _http._tcp")
    parser.add_argument("--default-port", type=integer)
    parser.add_argument(
        "--nameserver", action="append", dest="nameservers", metavar="IP[:PORT]|NAME"
    )
    parser.add_argument("--recovery", type=_json, metavar="JSON")
    parser.add_argument("--ttl-floor-ms", type=integer)
    parser.add_argument("--ttl-ceiling-ms", type=integer)
    parser.add_argument(
        "--removal-share",
        type=decimal,
        help="0 to 1; if this share disappears at once, a second lookup decides",
    )
    parser.add_argument("--grace-seconds", type=integer)
    parser.add_argument("--pause", dest="is_watched", action="store_false", default=None)
    parser.add_argument("--resume", dest="is_watched", action="store_true", default=None)


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise argparse.ArgumentTypeError(f"not JSON: {error}") from error


def _given(options: dict[str, Any]) -> dict[str, Any]:
    return {key: options[key] for key in configuration.SETTINGS if options[key] is not None}


def _checked(operation: Any, name: str, **settings: Any) -> Pool:
    """Turn settings that cannot work into a usage error."""
    try:
        pool: Pool = operation(name, **settings)
    except ValidationError as error:
        lines = [f"{field}: {' '.join(texts)}" for field, texts in error.message_dict.items()]
        raise CommandError("; ".join(lines), returncode=EXIT_USAGE) from error
    return pool


def _line(pool: Pool) -> list[Any]:
    since = f"{pool.state_since:%Y-%m-%d %H:%M:%S}"
    after = f"{pool.next_at:%H:%M:%S}" if pool.next_at else "–"
    return [pool.name, pool.service_name, pool.shown_state, since, after, pool.last_error or "–"]


def _as_text(value: Any) -> str:
    if value in (None, "", []):
        return "–"
    return value if isinstance(value, str) else json.dumps(value)
