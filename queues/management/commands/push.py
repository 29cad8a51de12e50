"""`manage.py push QUEUE MOUNT NAME`: push a job."""

import argparse
import json
from typing import Any

from django.core.management.base import CommandError, CommandParser

import queues
from atributo_site.commands import AtributoCommand
from queues.management.search_arguments import moment

NUMBERS = (
    "delay",
    "back_off",
    "max_failures",
    "repeat_times",
    "repeat_delay",
    "timeout",
    "priority",
)
KEYS = ("unique_key", "sticky_key")
SCRIPT = "A script by its mount and name: /mailer/send-mail"
MOMENTS = ("delay_until", "repeat_until")
CALLBACKS = ("success", "failure")
OPTIONS = (*NUMBERS, *KEYS, *MOMENTS, *CALLBACKS)


class Command(AtributoCommand):
    help = "Push a job and print its id. Numbers are milliseconds; -1 means for ever."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("queue")
        parser.add_argument("mount", help="For example /mailer.")
        parser.add_argument("name", help="For example send-mail.")
        parser.add_argument("--data", help="The data as JSON; a list is spread into arguments.")
        kinds: dict[str, Any] = {**dict.fromkeys(NUMBERS, int), **dict.fromkeys(MOMENTS, moment)}
        helps = {**dict.fromkeys(MOMENTS, "2030-01-31T12:00"), **dict.fromkeys(CALLBACKS, SCRIPT)}
        for name in OPTIONS:
            parser.add_argument(
                f"--{name.replace('_', '-')}",
                type=kinds.get(name, str),
                help=helps.get(name),
                default=argparse.SUPPRESS,
            )

    def perform(self, **options: Any) -> None:
        given = {name: options[name] for name in OPTIONS if name in options}
        given |= {name: _script(given[name]) for name in CALLBACKS if name in given}
        script = {"mount": options["mount"], "name": options["name"]}
        job_id = queues.get(options["queue"]).push(script, _data(options["data"]), **given)
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
