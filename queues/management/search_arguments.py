"""The search of the page «Jobs» as arguments of a command."""

import argparse
from datetime import UTC, datetime
from typing import Any

from queues.job_states import STATES

NAMES = {
    "text": "query",
    "state": "state",
    "fingerprint": "fingerprint",
    "since": "since",
    "until": "until",
}


def add_search(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--query", default="", help="As in the search box: queue:mail")
    parser.add_argument("--state", choices=STATES, default="")
    parser.add_argument("--fingerprint", default="", help="Only this group of errors.")
    parser.add_argument("--since", type=_moment, help="Ended at or after: 2030-01-31T12:00")
    parser.add_argument("--until", type=_moment, help="Ended before that moment, in UTC.")


def searched_for(options: dict[str, Any]) -> dict[str, str]:
    """The query in the words of an operation; empty where nothing is searched for."""
    return {name: options[given] for name, given in NAMES.items() if options[given]}


def moment(text: str) -> datetime:
    """In UTC unless it says otherwise."""
    try:
        given = datetime.fromisoformat(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text} is no moment like 2030-01-31T12:00") from error
    return given if given.tzinfo else given.replace(tzinfo=UTC)


def _moment(text: str) -> str:
    return moment(text).isoformat()
