"""Subcommands that take `--json` behind their name, too."""

import argparse
from typing import Any

from django.core.management.base import CommandParser


class Subcommands:
    """`Subcommands(parser).add(name, help=…)` → the parser of one action."""

    def __init__(self, parser: CommandParser) -> None:
        self._actions = parser.add_subparsers(dest="action", required=True)

    def add(self, name: str, **options: Any) -> argparse.ArgumentParser:
        parser = self._actions.add_parser(name, **options)
        parser.add_argument("--json", action="store_true", default=argparse.SUPPRESS)
        return parser
