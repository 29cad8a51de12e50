"""Check the invariants on this installation."""

import sys
from typing import Any

from atributo_site.commands import EXIT_REFUSED, AtributoCommand
from atributo_site.invariants import Rule, all_rules


class Command(AtributoCommand):
    help = "Check what must always hold; exit code 1 and the rows when something is broken."

    def perform(self, **options: Any) -> None:
        found = {rule.name: rule.broken() for rule in all_rules()}
        if options["json"]:
            self.show(found)
        else:
            self._print(all_rules(), found)
        if any(found.values()):
            sys.exit(EXIT_REFUSED)

    def _print(self, rules: list[Rule], found: dict[str, list[str]]) -> None:
        for rule in rules:
            self.stdout.write(f"{'BROKEN' if found[rule.name] else 'ok':7}{rule.sentence}")
            for row in found[rule.name]:
                self.stdout.write(f"       {row}")
        self.stdout.write(f"{len(rules)} rules, {sum(map(len, found.values()))} rows break them.")
