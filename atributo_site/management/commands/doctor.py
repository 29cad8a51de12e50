"""Examine this installation and say how to mend what is wrong."""

import argparse
import sys
from dataclasses import asdict
from typing import Any

from atributo_site.commands import EXIT_REFUSED, AtributoCommand
from atributo_site.config.described import described_settings
from atributo_site.core.text import runnable
from atributo_site.status.doctor import Finding, examine


class Command(AtributoCommand):
    help = "Examine configuration, database, Redis, clock and processes; exit code 1 on an error."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--list-settings",
            action="store_true",
            help="show every setting with its source",
        )

    def perform(self, *, json: bool, list_settings: bool, **options: Any) -> None:
        if list_settings:
            return self._show_settings(json)
        findings = examine()
        if json:
            self.show([asdict(each) | {"fix": runnable(each.fix)} for each in findings])
        else:
            self._print(findings)
        if any(finding.level == "error" for finding in findings):
            sys.exit(EXIT_REFUSED)

    def _show_settings(self, as_json: bool) -> None:
        settings = described_settings()
        if as_json:
            return self.show(settings)
        columns = ["name", "value", "source"]
        self.table(columns, [[setting[name] for name in columns] for setting in settings])

    def _print(self, findings: list[Finding]) -> None:
        for finding in findings:
            fix = f"  → {runnable(finding.fix)}" if finding.fix else ""
            self.stdout.write(f"{finding.level:8}{finding.name}: {finding.sentence}{fix}")
