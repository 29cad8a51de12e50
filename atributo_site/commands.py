"""The base class of every command: the actor of events, JSON output, exit codes."""

import argparse
import getpass
import json
import sys
from collections.abc import Callable
from typing import Any, Literal

from django.conf import settings
from django.core.management.base import BaseCommand, OutputWrapper
from django.core.serializers.json import DjangoJSONEncoder
from django.db import DatabaseError, InterfaceError, OperationalError, ProgrammingError
from django.db.migrations.exceptions import MigrationSchemaMissing

from allocation.job_ids import ids
from atributo_site.core import text as text_of
from atributo_site.core.availability.trouble import state_of_database
from atributo_site.core.errors import AtributoError
from atributo_site.core.events import Actor, acting, has_done_something
from atributo_site.core.forking import watch_forks
from atributo_site.core.text import harmless, runnable
from atributo_site.status.migrations import check_migrated

EXIT_REFUSED = 1  # the request was understood and refused
EXIT_USAGE = 2  # the command line itself is wrong
MOST_LISTED = 100_000
UNBOUNDED_WIDTH = 10_000  # characters; in a pipe nothing is cut or wrapped
# PostgreSQL says that tables or rights are missing; SQLite reports both as an OperationalError.
UNDEFINED_TABLE, INSUFFICIENT_PRIVILEGE = "42P01", "42501"


class DatabaseFailed(AtributoError):
    """The database is away, busy or not migrated, or it is no database at all."""

    status_code = 503
    code = "database_failed"


def whole_number(least: int, most: int) -> Callable[[str], int]:
    """Return an argument type that accepts a whole number from `least` to `most`."""

    def parse(text: str) -> int:
        found = text_of.whole_number(text)
        if found is None or not least <= found <= most:
            raise argparse.ArgumentTypeError(f"must be a whole number from {least} to {most}")
        return found

    return parse


listed_number = whole_number(1, MOST_LISTED)


def integer(text: str) -> int:
    """Read a whole number whose limits others check; `int` itself would read 1_0, too."""
    found = text_of.whole_number(text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text} is not a whole number")
    return found


def decimal(text: str) -> float:
    """Read a number with or without decimals."""
    found = text_of.number(text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text} is not a number")
    return found


def with_json(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """Give a verb the option --json, which the command itself has too."""
    parser.add_argument("--json", action="store_true", default=argparse.SUPPRESS)
    return parser


class AtributoCommand(BaseCommand):
    """Run `perform(**options)` of a subclass; turn errors into a sentence and an exit code."""

    has_json = True
    # They would load every page and form of the site; `check`, `doctor` and `web` run them.
    requires_system_checks: list[str] | tuple[str, ...] | Literal["__all__"] = []
    needs_migrations = False  # True for a command that runs for ever: it would fail again and again
    perform: Callable[..., None]
    _ends_the_process = False

    def run_from_argv(self, argv: list[str]) -> None:
        self._ends_the_process = True  # a command that a program calls does not
        if settings.ATRIBUTO.is_hosted:  # a process of ours; the others are left alone
            watch_forks()
        super().run_from_argv(argv)

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> Any:
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        if self.has_json:
            parser.add_argument("--json", action="store_true", help="Print JSON instead of text.")
        return parser

    def handle(self, *args: Any, **options: Any) -> None:
        with acting(Actor(os_user(), "command")):
            try:
                self.check_options(**options)
                if self.needs_migrations:
                    check_migrated()
                self._perform(options)
            except (DatabaseError, InterfaceError) as error:
                self._refuse(database_failed(error), options.get("json", False))
            except AtributoError as error:
                self._refuse(error, options.get("json", False))

    def check_options(self, **options: Any) -> None:
        """Refuse what cannot be meant, before the database is asked."""

    def _perform(self, options: dict[str, Any]) -> None:
        try:
            self.perform(**options)
        finally:
            if self._ends_the_process:  # the next process with it need not wait for the lease
                ids.release()

    def show(self, value: Any) -> None:
        """Print one JSON document on standard output."""
        text = json.dumps(value, cls=DjangoJSONEncoder, ensure_ascii=False, indent=2)
        self.lines([text])

    def table(self, columns: list[str], rows: list[list[Any]]) -> None:
        """Print a table in full: a narrow terminal folds it, a file or a pipe gets long lines."""
        # Loaded here, because most commands print no table.
        from rich.console import Console
        from rich.markup import escape
        from rich.table import Column, Table

        folded = [Column(name, overflow="fold") for name in columns]
        table = Table(*folded, box=None, pad_edge=False)
        for row in rows:
            table.add_row(*[escape(harmless(str(cell))) for cell in row])
        width = None if self.stdout.isatty() else UNBOUNDED_WIDTH
        Console(file=self.stdout, width=width).print(table)  # type: ignore[arg-type]

    def lines(self, texts: list[str], out: OutputWrapper | None = None) -> None:
        """Print text that others wrote, by default on standard output."""
        for text in texts:
            (out or self.stdout).write(harmless(text))

    def _refuse(self, error: AtributoError, as_json: bool) -> None:
        if as_json:
            self.show({"error": str(error), "code": error.code, **error.facts})
        else:
            self.lines([str(error)], self.stderr)
        sys.exit(EXIT_REFUSED)


def database_failed(error: Exception) -> DatabaseFailed:
    """Describe the failure in one line; raise an error in our own SQL again to show its trace."""
    if not _is_of_the_database(error):
        raise error
    described = str(_database_error(error)).strip().partition("\n")[0]
    described = f"the database failed: {described}. {runnable('`manage.py doctor`')} says more."
    if getattr(error, "in_doubt", False) or has_done_something():
        return DatabaseFailed(
            f"{described} This may or may not have been done: check first.", in_doubt=True
        )
    return DatabaseFailed(described)


def _is_of_the_database(error: Exception) -> bool:
    if isinstance(error, ProgrammingError):
        sqlstate = getattr(error.__cause__, "sqlstate", "")
        return sqlstate in (UNDEFINED_TABLE, INSUFFICIENT_PRIVILEGE)
    away = (OperationalError, InterfaceError, MigrationSchemaMissing)
    return isinstance(error, away) or type(error) is DatabaseError or bool(state_of_database(error))


def _database_error(error: Exception) -> BaseException:
    """Return the reason that Django's migrating hides when it cannot make the very first table."""
    return (error.__context__ or error) if isinstance(error, MigrationSchemaMissing) else error


def os_user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a user id without a name, as in many containers
        return "command"
