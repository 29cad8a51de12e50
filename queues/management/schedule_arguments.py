"""The schedule of a job that repeats as arguments of a command."""

import argparse
from datetime import datetime
from typing import Any

from django.core.management.base import CommandError

from queues.management.search_arguments import moment
from queues.management.spans import span
from queues.rescheduling import COLUMNS

NEVER = "never"


def add_schedule(parser: argparse.ArgumentParser) -> None:
    arguments: dict[str, Any] = {"default": argparse.SUPPRESS}
    parser.add_argument("--repeat-delay", type=span, help="5m", **arguments)
    parser.add_argument("--repeat-times", type=int, help="-1 is for ever.", **arguments)
    parser.add_argument(
        "--repeat-until", type=_end, help=f"2030-01-31T12:00, or {NEVER}", **arguments
    )


def schedule_given(options: dict[str, Any]) -> dict[str, Any]:
    given = {name: options[name] for name in COLUMNS if name in options}
    if not given:
        names = ", ".join(f"--{name.replace('_', '-')}" for name in COLUMNS)
        raise CommandError(f"give one of {names}", returncode=2)
    return given


def _end(text: str) -> datetime | None:
    return None if text == NEVER else moment(text)
