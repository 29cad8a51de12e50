"""Examine this installation and say how to mend what is wrong."""

import sys
from dataclasses import asdict
from typing import Any

from atributo_site.commands import EXIT_REFUSED, AtributoCommand
from atributo_site.doctor import Finding, examine


class Command(AtributoCommand):
    help = "Examine configuration, database, Redis, clock and processes; exit code 1 on an error."
    requires_system_checks: list[str] = []  # it runs them itself and shows them as findings

    def perform(self, *, json: bool, **options: Any) -> None:
        findings = examine()
        if json:
            self.show([asdict(finding) for finding in findings])
        else:
            self._print(findings)
        if any(finding.level == "error" for finding in findings):
            sys.exit(EXIT_REFUSED)

    def _print(self, findings: list[Finding]) -> None:
        for finding in findings:
            fix = f"  → {finding.fix}" if finding.fix else ""
            self.stdout.write(f"{finding.level:8}{finding.name}: {finding.sentence}{fix}")
