"""Measure pushes, allocations and transactions on this installation."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from django.db import connection

from atributo_site.commands import AtributoCommand, decimal, integer
from atributo_site.core.errors import AtributoError
from atributo_site.core.events import record
from atributo_site.load.clients import ACTIONS, apply_load
from atributo_site.load.fixture import clear, left_over, load_fixture
from atributo_site.load.report import Report

LONGEST_SECONDS = 600
MOST_CLIENTS = 64
COLUMNS = ["kind", "operations", "per second", "p50 ms", "p99 ms", "refused", "errors"]


class NotOnProduction(AtributoError):
    status_code = 409
    code = "not_on_production"


class Command(AtributoCommand):
    help = "Put a bounded load on this installation, report rates and times, and clean up."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--seconds", type=decimal, default=5.0, help="For each kind; 5.")
        parser.add_argument("--clients", type=integer, default=4, help="At the same time; 4.")
        parser.add_argument("--kinds", nargs="+", choices=list(ACTIONS), default=list(ACTIONS))
        parser.add_argument("--out", type=Path, help="Folder for report.json and the charts.")
        parser.add_argument("--clean", action="store_true", help="Remove what killed ones left.")
        parser.add_argument("--on-production", action="store_true", help="Even there; needs both.")
        parser.add_argument("--i-mean-it", action="store_true", help="Even there; needs both.")

    def perform(self, **options: Any) -> None:
        if options["clean"]:
            self._clean(options["json"])
            return
        _check(options)
        report = _measured(options)
        if options["out"]:
            report.write(options["out"])
        if options["json"]:
            self.show(report.as_dict())
            return
        self.table(COLUMNS, report.rows())

    def _clean(self, as_json: bool) -> None:
        left = left_over()
        for each in left:
            clear(each)
        if as_json:
            return self.show({"removed": [each.name for each in left]})
        self.stdout.write(f"Removed what {len(left)} load tests left.")


def _check(options: dict[str, Any]) -> None:
    if not 0 < options["seconds"] <= LONGEST_SECONDS:
        raise CommandError(f"--seconds is more than 0 and at most {LONGEST_SECONDS}", returncode=2)
    if not 1 <= options["clients"] <= MOST_CLIENTS:
        raise CommandError(f"--clients is from 1 to {MOST_CLIENTS}", returncode=2)
    if options["out"]:
        _make_folder(options["out"])
    told_twice = options["on_production"] and options["i_mean_it"]
    if settings.ATRIBUTO.mode == "production" and not told_twice:
        raise NotOnProduction(
            "this is production: a load test slows everybody down. "
            "It takes --on-production and --i-mean-it."
        )


def _make_folder(path: Path) -> None:
    """Make the folder before the load, so that no run is lost for want of a place."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CommandError(f"--out {path}: {error.strerror}", returncode=2) from error


def _measured(options: dict[str, Any]) -> Report:
    clients, seconds = options["clients"], options["seconds"]
    with load_fixture() as made:
        record("load_test.started", "site:load_test", clients=clients, seconds=seconds)
        samples = {kind: apply_load(kind, made, clients, seconds) for kind in options["kinds"]}
    report = Report(connection.vendor, clients, seconds, samples)
    rates = {kind: row["per_second"] for kind, row in report.as_dict()["kinds"].items()}
    record("load_test.ended", "site:load_test", **rates)
    return report
