"""Arguments that several commands take: a search of jobs, spans of time, schedules, --json."""

import argparse
import json
from datetime import UTC, datetime
from typing import Any

from django.core.management.base import CommandError, CommandParser

from atributo_site.commands import integer
from atributo_site.core.text import milliseconds, whole_number
from queues.jobs.repeating import COLUMNS
from queues.queries.states import STATES

NAMES = {
    "text": "query",
    "state": "state",
    "fingerprint": "fingerprint",
    "since": "since",
    "until": "until",
}
NEVER = "never"


def add_search(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--query", default="", help="As in the search box: queue:mail")
    parser.add_argument("--state", choices=STATES, default="")
    parser.add_argument("--fingerprint", default="", help="Only this group of errors.")
    parser.add_argument("--since", type=_moment, help="Ended at or after: 2030-01-31T12:00")
    parser.add_argument("--until", type=_moment, help="Ended before that moment, in UTC.")


def searched_for(options: dict[str, Any]) -> dict[str, str]:
    """Return the query of an operation; empty where nothing is searched for."""
    return {name: options[given] for name, given in NAMES.items() if options[given]}


def moment(text: str) -> datetime:
    """Read a moment, in UTC unless it says otherwise."""
    try:
        given = datetime.fromisoformat(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text} is not a time like 2030-01-31T12:00") from error
    return given if given.tzinfo else given.replace(tzinfo=UTC)


def _moment(text: str) -> str:
    return moment(text).isoformat()


def script_name(text: str) -> dict[str, str]:
    """Read a script as its mount and name: /mailer/send-mail."""
    mount, _, name = text.rpartition("/")
    return {"mount": mount, "name": name}


def span(text: str) -> int:
    """Read a span in milliseconds; a bare number is milliseconds already."""
    number = milliseconds(text) if whole_number(text) is None else whole_number(text)
    if number is None or number < 0:
        raise argparse.ArgumentTypeError(f"{text} is not a duration like 500ms, 5m or 1h30m")
    return number


def json_value(text: str) -> Any:
    """Read a list or an object."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise argparse.ArgumentTypeError(f"{text} is not JSON: {error}") from error
    if not isinstance(value, list | dict):
        raise argparse.ArgumentTypeError(f"{text} is neither a list nor an object")
    return value


def back_off(text: str) -> Any:
    """Read a span, or a strategy with its unit: foxx:5s."""
    strategy, colon, unit = text.rpartition(":")
    return {"strategy": strategy, "ms": span(unit)} if colon else span(text)


def add_schedule(parser: argparse.ArgumentParser) -> None:
    arguments: dict[str, Any] = {"default": argparse.SUPPRESS}
    parser.add_argument("--repeat-delay", type=span, help="5m", **arguments)
    parser.add_argument("--repeat-times", type=integer, help="-1 repeats forever.", **arguments)
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


class Subcommands:
    """`Subcommands(parser).add(name, help=…)` returns the parser of one action."""

    def __init__(self, parser: CommandParser) -> None:
        self._actions = parser.add_subparsers(dest="action", required=True)

    def add(self, name: str, **options: Any) -> argparse.ArgumentParser:
        parser = self._actions.add_parser(name, **options)
        parser.add_argument("--json", action="store_true", default=argparse.SUPPRESS)
        return parser
