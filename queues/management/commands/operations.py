"""`manage.py operations`: list, show, start and abort actions on many jobs."""

import json
from typing import Any

from django.core.management.base import CommandParser

from atributo_site.commands import AtributoCommand, integer, listed_number
from atributo_site.core.models.clock import database_now
from atributo_site.core.text import pluralize
from queues.api.operations import (
    JobOperationSerializer,
    OneJobOperationSerializer,
    operation_or_404,
)
from queues.jobs import bulk, operations
from queues.management.arguments import Subcommands, add_search, searched_for
from queues.models import Operation


class Command(AtributoCommand):
    help = "Actions on all matching jobs, carried out by the curator: list, show, start, abort."

    def add_arguments(self, parser: CommandParser) -> None:
        actions = Subcommands(parser)
        actions.add("list", help="Newest first.").add_argument(
            "--limit", type=listed_number, default=20
        )
        for name in ("show", "abort"):
            actions.add(name).add_argument("id", type=integer)
        start = actions.add("start", help="Retry, abort or delete every job that matches.")
        start.add_argument("verb", choices=sorted(bulk.ACTIONS))
        add_search(start)
        start.add_argument("--reason", default="")
        start.add_argument(
            "--everything", action="store_true", help="Required if no query narrows it down."
        )
        start.add_argument(
            "--schedules", action="store_true", help="Also abort or delete jobs that repeat."
        )

    def perform(self, **options: Any) -> None:
        getattr(self, f"_{options['action']}")(options)

    def _list(self, options: dict[str, Any]) -> None:
        rows = Operation.objects.all()[: options["limit"]]
        operations = [JobOperationSerializer(row).data for row in rows]
        if options["json"]:
            self.show(operations)
            return
        columns = ["id", "action", "said", "state", "changed", "refused", "actor"]
        self.table(columns, [[str(row[name]) for name in columns] for row in operations])

    def _show(self, options: dict[str, Any]) -> None:
        facts = OneJobOperationSerializer(operation_or_404(options["id"])).data
        if options["json"]:
            return self.show(facts)
        refusals = facts.pop("refusals")
        self.table(["", ""], [[name, _text(value)] for name, value in facts.items()])
        if refusals:
            self.table(["job", "refused because"], [list(each.values()) for each in refusals])

    def _start(self, options: dict[str, Any]) -> None:
        made = operations.start(
            options["verb"],
            searched_for(options),
            database_now(),
            reason=options["reason"],
            everything=options["everything"],
            schedules=options["schedules"],
        )
        self._say(
            options, made.pk, f"is started, for {pluralize(made.expected, 'job')}: {made.said}"
        )

    def _abort(self, options: dict[str, Any]) -> None:
        is_changed = operations.abort(operation_or_404(options["id"]).pk)
        sentence = "is aborted; finished changes stay" if is_changed else "had already finished"
        self._say(options, options["id"], sentence)

    def _say(self, options: dict[str, Any], pk: int, sentence: str) -> None:
        if options["json"]:
            return self.show(JobOperationSerializer(operation_or_404(pk)).data)
        self.stdout.write(f"Operation {pk} {sentence}.")


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
