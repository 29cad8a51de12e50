"""`manage.py batches`: list, show, push, open, close, retry and abort batches of jobs."""

import json
import sys
from typing import Any

from django.core.management.base import CommandError, CommandParser

from atributo_site.commands import AtributoCommand, listed_number
from atributo_site.core.text import pluralize
from atributo_site.rest.serializers import checked
from queues.api.batches import JobBatchSerializer, NewBatch, batch_or_404, collect
from queues.jobs import batches
from queues.jobs.batch_blocks import Block
from queues.jobs.bulk import Done
from queues.management.arguments import Subcommands, script_name
from queues.models import Batch

SCRIPT = "A script by its mount and name: /mailer/send-mail"


class Command(AtributoCommand):
    help = "Batches of jobs: list, show, push, open, close, retry what failed, abort the rest."

    def add_arguments(self, parser: CommandParser) -> None:
        actions = Subcommands(parser)
        listing = actions.add("list", help="Newest first.")
        listing.add_argument("--limit", type=listed_number, default=20)
        listing.add_argument("--state", choices=Batch.State.values, default="")
        for name, what in (
            ("show", "Show its progress."),
            ("close", "Let no more jobs in, so that it can end."),
            ("retry", "Start its failed jobs over."),
        ):
            actions.add(name, help=what).add_argument("id")
        abort = actions.add("abort", help="Abort its jobs that have not ended.")
        abort.add_argument("id")
        abort.add_argument("--reason", default="")
        push = actions.add("push", help="Push a batch with all of its jobs, as REST takes it.")
        push.add_argument("file", help="A file with the JSON body of POST /batches; - is stdin.")
        opening = actions.add("open", help="Begin a batch; push jobs into it with push --batch.")
        opening.add_argument("queue")
        opening.add_argument("--name", default="")
        for name in ("done", "failed"):
            opening.add_argument(f"--{name}", type=script_name, help=SCRIPT)

    def perform(self, **options: Any) -> None:
        getattr(self, f"_{options['action']}")(options)

    def _list(self, options: dict[str, Any]) -> None:
        rows = Batch.objects.select_related("queue").order_by("-pk")
        if options["state"]:
            rows = rows.filter(state=options["state"])
        found = [JobBatchSerializer(row).data for row in rows[: options["limit"]]]
        if options["json"]:
            return self.show(found)
        columns = ["id", "name", "queue", "state", "percent"]
        lines = [
            [*(str(row[name]) for name in columns), str(row["jobs"]["total"])] for row in found
        ]
        self.table([*columns, "jobs"], lines)

    def _show(self, options: dict[str, Any]) -> None:
        facts = JobBatchSerializer(batch_or_404(options["id"])).data
        if options["json"]:
            return self.show(facts)
        counts = facts.pop("jobs")
        rows = [[name, _text(value)] for name, value in facts.items()]
        self.table(["", ""], [*rows, *([f"jobs {name}", str(n)] for name, n in counts.items())])

    def _push(self, options: dict[str, Any]) -> None:
        given = checked(NewBatch, _read(options["file"]))
        jobs = given.pop("jobs", [])
        block = Block(**given)
        ids = collect(block, jobs)
        block.store()
        if options["json"]:
            return self.show({"id": block.id, "jobs": ids})
        self.stdout.write(block.id)

    def _open(self, options: dict[str, Any]) -> None:
        names = ("queue", "name", "done", "failed")
        batch = batches.open_batch(**{name: options[name] for name in names})
        if options["json"]:
            return self.show({"id": str(batch.pk)})
        self.stdout.write(str(batch.pk))

    def _close(self, options: dict[str, Any]) -> None:
        closed = batches.close(batch_or_404(options["id"]).pk)
        sentence = "is closed" if closed else "was closed before"
        self._say(options, {"closed": closed}, f"Batch {options['id']} {sentence}.")

    def _retry(self, options: dict[str, Any]) -> None:
        self._tell(options, batches.retry_failed(batch_or_404(options["id"]).pk), "start over")

    def _abort(self, options: dict[str, Any]) -> None:
        batch_id = batch_or_404(options["id"]).pk
        self._tell(options, batches.abort_rest(batch_id, reason=options["reason"]), "are aborted")

    def _tell(self, options: dict[str, Any], done: Done, what: str) -> None:
        facts = {"changed": done.changed, "refused": done.refused}
        self._say(options, facts, f"{pluralize(done.changed, 'job')} of {options['id']} {what}.")

    def _say(self, options: dict[str, Any], facts: dict[str, Any], sentence: str) -> None:
        if options["json"]:
            return self.show(facts)
        self.stdout.write(sentence)


def _read(path: str) -> Any:
    try:
        if path == "-":
            return json.load(sys.stdin)
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError) as error:
        raise CommandError(f"{path} cannot be read: {error}") from error


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
