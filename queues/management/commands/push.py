"""`manage.py push QUEUE MOUNT NAME`: push a job."""

import argparse
import json
from typing import Any

from django.core.management.base import CommandError, CommandParser

import queues
from atributo_site.commands import AtributoCommand

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


class Command(AtributoCommand):
    help = "Push a job and print its id. Numbers are milliseconds; -1 means for ever."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("queue")
        parser.add_argument("mount", help="For example /mailer.")
        parser.add_argument("name", help="For example send-mail.")
        parser.add_argument("--data", help="The data as JSON; a list is spread into arguments.")
        for name in NUMBERS:
            parser.add_argument(f"--{name.replace('_', '-')}", type=int, default=argparse.SUPPRESS)
        for name in KEYS:
            parser.add_argument(f"--{name.replace('_', '-')}", default=argparse.SUPPRESS)

    def perform(self, **options: Any) -> None:
        given = {name: options[name] for name in (*NUMBERS, *KEYS) if name in options}
        script = {"mount": options["mount"], "name": options["name"]}
        job_id = queues.get(options["queue"]).push(script, _data(options["data"]), **given)
        if options["json"]:
            self.show({"id": job_id})
        else:
            self.stdout.write(job_id)


def _data(text: str | None) -> Any:
    try:
        return None if text is None else json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CommandError(f"--data is not JSON: {error}", returncode=2) from error
