"""`manage.py queue`: list, create, scale, pause, resume, delete queues."""

from argparse import SUPPRESS, ArgumentTypeError, BooleanOptionalAction
from typing import Any

from django.core.management.base import CommandParser
from django.db.transaction import atomic

import queues
from atributo_site.commands import AtributoCommand, integer, whole_number
from atributo_site.core.models.clock import database_now
from atributo_site.core.text import pluralize, written
from queues import catalogue
from queues.catalogue import set_target_age
from queues.logic.absence import WhenAway
from queues.logic.flow.limits import parsed
from queues.logic.lateness import TARGET_AGE_SECONDS, target_age
from queues.management.arguments import Subcommands, json_value
from queues.models import Queue
from queues.models.queue import MOST_TARGET_AGE_SECONDS
from queues.queries.backlog import with_depth
from queues.queries.flows import limits_status
from queues.queries.presenters import queue_dict, queue_status

MOST_QUEUES = 1000
WHAT_IF = "Other limits as JSON: when would the backlog end? Nothing is changed."
LIMITS = 'As JSON: [{"per": "key", "at_once": 2}]; [] ends all limits.'
WEIGHTS = 'The shares of flow keys as JSON: {"acme": 3}; the others have 1.'
DEFAULT = "default"
SWITCHES = {
    "pause": (catalogue.pause_all, "paused"),
    "resume": (catalogue.resume_all, "resumed"),
}
COLUMNS = (
    *("name", "running", "max_workers", "waiting", "delayed"),
    *("oldest_seconds", "lateness", "paused"),
)


class Command(AtributoCommand):
    help = "Queues: list, create, limits, pause, resume, delete."

    def add_arguments(self, parser: CommandParser) -> None:
        actions = Subcommands(parser)
        actions.add("list", help="Every queue with what runs and waits.")
        creation = actions.add("create", help="Create a queue, or change its workers or policy.")
        creation.add_argument("name")
        creation.add_argument("--max-workers", type=integer)
        creation.add_argument(
            "--when-away",
            choices=list(WhenAway),
            help="What sticky jobs do while no worker serves their instance.",
        )
        creation.add_argument(
            "--away-seconds", type=integer, metavar="N", help="The grace before they move or fail."
        )
        creation.add_argument(
            "--retention-days", type=integer, metavar="N", help="How long finished jobs are kept."
        )
        creation.add_argument(
            "--target-age-seconds",
            type=seconds_or_default,
            default=SUPPRESS,  # nothing said leaves it as it is
            metavar="N",
            help="How old the oldest due job may get before the queue is late; "
            f"'{DEFAULT}': {TARGET_AGE_SECONDS}s, while nobody works at the queue.",
        )
        creation.add_argument(
            "--record-start",
            action=BooleanOptionalAction,
            help="Whether every start is in the database before a job begins; this is slower.",
        )
        creation.add_argument("--limits", type=json_value, default=SUPPRESS, help=LIMITS)
        creation.add_argument("--weights", type=json_value, default=SUPPRESS, help=WEIGHTS)
        limits = actions.add("limits", help="Who waits for which limit, and when that ends.")
        limits.add_argument("name")
        limits.add_argument("--what-if", type=json_value, default=SUPPRESS, help=WHAT_IF)
        for name in SWITCHES:
            one_or_all = actions.add(name).add_mutually_exclusive_group(required=True)
            one_or_all.add_argument("name", nargs="?")
            one_or_all.add_argument("--all", action="store_true", help="Every queue.")
        actions.add("delete").add_argument("name")

    def perform(self, **options: Any) -> None:
        if options["action"] == "list":
            self._list(options)
            return
        if options["action"] == "limits":
            self._limits(options)
            return
        if options.get("all"):
            self._switch(options)
            return
        if options["action"] == "create":
            self._create(options)
        else:
            catalogue.row(options["name"])
            getattr(queues, options["action"])(options["name"])
        if options["action"] != "delete":
            self._tell(options)

    def _switch(self, options: dict[str, Any]) -> None:
        """Switch all of them; leave out those that were so already."""
        switch, sentence = SWITCHES[options["action"]]
        names = switch()
        if options["json"]:
            self.show({"changed": len(names), "queues": names})
        else:
            self.stdout.write(f"{pluralize(len(names), 'queue')} {sentence}")

    def _create(self, options: dict[str, Any]) -> None:
        """Do all of it or nothing."""
        name, wishes = options["name"], (options["when_away"], options["away_seconds"])
        with atomic():
            queues.create(name, options["max_workers"])
            if wishes != (None, None):
                catalogue.set_when_away(name, *wishes)
            if options["retention_days"] is not None:
                catalogue.set_retention(name, options["retention_days"])
            if "target_age_seconds" in options:
                set_target_age(name, options["target_age_seconds"])
            if options["record_start"] is not None:
                catalogue.set_record_start(name, options["record_start"])
            if "limits" in options:
                catalogue.set_limits(name, options["limits"])
            if "weights" in options:
                catalogue.set_weights(name, options["weights"])

    def _what_if(self, options: dict[str, Any]) -> None:
        told = catalogue.what_if(options["name"], options["what_if"])
        if options["json"]:
            return self.show(told)
        self.lines([f"now: {told['now']['said']}", f"then: {told['then']['said']}"])

    def _limits(self, options: dict[str, Any]) -> None:
        if "what_if" in options:
            return self._what_if(options)
        status = limits_status(catalogue.row(options["name"]))
        if options["json"]:
            return self.show(status)
        for limit in parsed(status["limits"]):
            self.stdout.write(limit.said())
        if status["waits_for"]:
            self.stdout.write(f"the whole queue waits: {status['waits_for']}")
        columns = ["flow key", "script", "waits for", "since", "jobs", "running"]
        rows = [
            [
                each["flow_key"],
                f"{each['script']['mount']}/{each['script']['name']}",
                *(each[name] for name in ("waits_for", "since", "jobs", "running")),
            ]
            for each in status["waiting"]
        ]
        self.table(columns, rows)

    def _list(self, options: dict[str, Any]) -> None:
        now = database_now()
        queues = with_depth(Queue.objects.existing()).order_by("name")[:MOST_QUEUES]
        lines = [queue_status(queue, now, None) for queue in queues]
        if options["json"]:
            keys = (*COLUMNS, "next_due_at", "target_age_seconds")
            self.show([{key: line[key] for key in keys} for line in lines])
            return
        rows = [["–" if line[name] is None else line[name] for name in COLUMNS] for line in lines]
        self.table(list(COLUMNS), rows)

    def _tell(self, options: dict[str, Any]) -> None:
        queue = queue_dict(catalogue.row(options["name"]))
        if options["json"]:
            self.show(queue)
        else:
            state = "paused" if queue["paused"] else "active"
            away = f"sticky jobs {queue['when_away']}"
            if queue["when_away"] != WhenAway.WAIT:
                away += f" after {written(queue['away_seconds'] * 1000)}"
            self.stdout.write(
                f"{queue['name']}: {state}, {pluralize(queue['max_workers'], 'worker')}; "
                f"without their instance {away}; finished ones are kept "
                f"{pluralize(queue['retention_days'], 'day')}; the oldest may wait "
                f"{written(target_age(queue['target_age_seconds']) * 1000)}"
                f"{'; starts are recorded first' if queue['record_start'] else ''}"
            )


def seconds_or_default(text: str) -> int | None:
    if text == DEFAULT:
        return None
    try:
        return whole_number(1, MOST_TARGET_AGE_SECONDS)(text)
    except ArgumentTypeError as error:
        raise ArgumentTypeError(f"{error}, or '{DEFAULT}'") from error
