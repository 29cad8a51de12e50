"""`manage.py script MOUNT NAME`: run a script now."""

import json
from typing import Any

from django.core.management.base import CommandError, CommandParser

from atributo_site.commands import AtributoCommand
from queues.audited import run_script
from queues.services.dry_run import dry_run_as_dict
from queues.worker.run_now import in_a_child


class Command(AtributoCommand):
    help = "Run a script of an installed service now and print its result as JSON."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("mount", help="For example /mailer.")
        parser.add_argument("name", help="For example send-mail.")
        parser.add_argument("arguments", nargs="*", help="Each as JSON; or see --data.")
        parser.add_argument(
            "--dry-run",
            action="store_true",
            help="Show what the script would change and push, then undo it.",
        )
        parser.add_argument("--data", help="The data as one JSON value; a list is spread.")

    def perform(self, **options: Any) -> None:
        dry_run = options["dry_run"]
        with in_a_child():
            ran = run_script(options["mount"], options["name"], data_of(options), dry_run=dry_run)
        self.lines([f"{line['level']}: {line['text']}" for line in ran.lines], self.stderr)
        self.show(dry_run_as_dict(ran) if dry_run else ran.result)


def data_of(options: dict[str, Any]) -> Any:
    """Return `--data` as it is; else the arguments as a list, one of them alone as itself."""
    if options["data"] is not None:
        return _json(options["data"])
    values = [_json(text) for text in options["arguments"]]
    if not values:
        return None
    return values[0] if len(values) == 1 and not isinstance(values[0], list) else values


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CommandError(f"{text!r} is not JSON: {error}", returncode=2) from error
