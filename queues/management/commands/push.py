"""`manage.py push QUEUE MOUNT NAME`: push a job."""

import argparse
import json
from typing import Any

from django.core.management.base import CommandError, CommandParser

from atributo_site.commands import AtributoCommand, integer
from queues import audited
from queues.management.arguments import back_off, json_value, moment, span

NUMBERS = ("max_failures", "repeat_times", "priority")
SPANS = ("delay", "repeat_delay", "timeout")
KEYS = ("unique_key", "sticky_key", "flow_key")
BACK_OFF = "A duration, or a strategy with its unit: foxx:5s"
LIMITS = 'As JSON: [{"per": "key", "at_once": 2}]'
SCRIPT = "A script by its mount and name: /mailer/send-mail"
MOMENTS = ("delay_until", "repeat_until", "expires_at")
FLAGS = ("concurrent", "debounce", "even_if_failed")
CALLBACKS = ("success", "failure")
LINKS = ("batch", "after")
KINDS: dict[str, Any] = {
    **dict.fromkeys(NUMBERS, integer),
    **dict.fromkeys(SPANS, span),
    **dict.fromkeys(MOMENTS, moment),
    "back_off": back_off,
    "limits": json_value,
    "after": lambda text: text.split(","),
}
HELPS = {
    **dict.fromkeys(SPANS, "5m"),
    **dict.fromkeys(MOMENTS, "2030-01-31T12:00"),
    **dict.fromkeys(CALLBACKS, SCRIPT),
    "back_off": BACK_OFF,
    "limits": LIMITS,
    "batch": "The id of an open batch that it belongs to.",
    "after": "Ids of jobs that have to complete before it starts, with commas.",
}
OPTIONS = (*NUMBERS, *SPANS, "back_off", "limits", *KEYS, *MOMENTS, *CALLBACKS, *LINKS)


class Command(AtributoCommand):
    help = (
        "Push a job and print its id. Write durations as 500ms, 5m or 1h30m; a plain number is "
        "milliseconds. -1 times means forever."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("queue")
        parser.add_argument("mount", help="For example /mailer.")
        parser.add_argument("name", help="For example send-mail.")
        parser.add_argument("--data", help="The data as JSON; a list is spread into arguments.")
        parser.add_argument(
            "--concurrent",
            action="store_true",
            default=argparse.SUPPRESS,
            help="The job may run alongside other jobs of its key, in any order.",
        )
        parser.add_argument(
            "--debounce",
            action="store_true",
            default=argparse.SUPPRESS,
            help="Replace data and moment of the waiting job with the same --unique-key.",
        )
        parser.add_argument(
            "--even-if-failed",
            action="store_true",
            default=argparse.SUPPRESS,
            help="Start when the jobs of --after have ended, even if some failed.",
        )
        for name in OPTIONS:
            parser.add_argument(
                f"--{name.replace('_', '-')}",
                type=KINDS.get(name, str),
                help=HELPS.get(name),
                default=argparse.SUPPRESS,
            )

    def perform(self, **options: Any) -> None:
        given = {name: options[name] for name in (*OPTIONS, *FLAGS) if name in options}
        given |= {name: _script(given[name]) for name in CALLBACKS if name in given}
        script = {"mount": options["mount"], "name": options["name"]}
        job_id = audited.push(options["queue"], script, _data(options["data"]), given)
        if options["json"]:
            self.show({"id": job_id})
        else:
            self.stdout.write(job_id)


def _script(text: str) -> dict[str, str]:
    mount, _, name = text.rpartition("/")
    return {"mount": mount, "name": name}


def _data(text: str | None) -> Any:
    try:
        return None if text is None else json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CommandError(f"--data is not JSON: {error}", returncode=2) from error
