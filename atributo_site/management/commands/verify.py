"""Check the rules on this installation, once or again and again."""

import sys
import time
from argparse import ArgumentTypeError
from typing import Any

from django.core.management.base import CommandError

from atributo_site.commands import EXIT_REFUSED, EXIT_USAGE, AtributoCommand, whole_number
from atributo_site.core.models.clock import database_now
from atributo_site.core.models.pieces import Everything, Sample
from atributo_site.core.text import number, pluralize
from atributo_site.curator.integrity import Rule, all_rules

Broken = dict[str, list[str]]
LONGEST_PAUSE_SECONDS = 24 * 60 * 60


class Command(AtributoCommand):
    help = "Check the rules that must always hold; lists broken rows and exits with 1."

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("--rule", action="append", help="Only this rule; may be repeated.")
        parser.add_argument("--list", action="store_true", help="Name the rules and stop.")
        parser.add_argument(
            "--sample", action="store_true", help="Of large tables only the newest and some others."
        )
        parser.add_argument("--watch", action="store_true", help="Check again until stopped.")
        parser.add_argument("--every", type=_pause, default=2.0, help="Seconds between two rounds.")
        parser.add_argument(
            "--rounds",
            type=whole_number(1, 10**9),
            help="With --watch: stop after this many rounds.",
        )

    def perform(self, *, rule: list[str] | None, **options: Any) -> None:
        rules = _chosen(rule)
        if options["list"]:
            return self._list(rules, options["json"])
        if options["watch"]:
            return self._watch(rules, **options)
        look, began = _scope(options["sample"]), time.monotonic()
        broken = _look(rules, look)
        self._print(rules, broken, options["json"])
        if not options["json"]:
            self.stdout.write(_cost(look.rows, time.monotonic() - began))
        _end(any(broken.values()))

    def _list(self, rules: list[Rule], as_json: bool) -> None:
        if as_json:
            return self.show({rule.name: rule.sentence for rule in rules})
        self.table(["rule", "what must hold"], [[r.name, r.sentence] for r in rules])

    def _watch(
        self,
        rules: list[Rule],
        *,
        every: float,
        rounds: int | None,
        sample: bool,
        json: bool,
        **options: Any,
    ) -> None:
        """Print the first result and then every change; the exit code remembers a broken rule."""
        last: Broken | None = None
        look, ever_broken, looks = _scope(sample), False, 0
        try:
            while rounds is None or looks < rounds:
                time.sleep(every if looks else 0)
                broken, looks = _look(rules, look), looks + 1
                ever_broken |= any(broken.values())
                if broken != last:
                    self._print_change(rules, broken, last or {}, json)
                last = broken
        except KeyboardInterrupt:
            self.stdout.write(f"Stopped after {looks} rounds.")
        _end(ever_broken)

    def _print_change(self, rules: list[Rule], broken: Broken, last: Broken, as_json: bool) -> None:
        at = database_now().isoformat(timespec="seconds")
        if as_json:
            only_broken = {name: rows for name, rows in broken.items() if rows}
            return self.show({"at": at, "rules": len(rules), "broken": only_broken})
        changed = [r for r in rules if broken[r.name] != last.get(r.name, [])]
        for rule in changed:
            self._print_rule(rule, broken[rule.name], at)
        self.stdout.write(f"{at} {_summary(rules, broken)}")

    def _print(self, rules: list[Rule], broken: Broken, as_json: bool) -> None:
        if as_json:
            return self.show(broken)
        for rule in rules:
            self._print_rule(rule, broken[rule.name])
        self.stdout.write(_summary(rules, broken))

    def _print_rule(self, rule: Rule, rows: list[str], at: str = "") -> None:
        self.stdout.write(f"{at} {'BROKEN' if rows else 'ok':7}{rule.sentence}".lstrip())
        for row in rows:
            self.stdout.write(f"       {row}")


def _pause(text: str) -> float:
    seconds = number(text)
    if seconds is None or not 0 <= seconds <= LONGEST_PAUSE_SECONDS:
        raise ArgumentTypeError(f"must be a number from 0 to {LONGEST_PAUSE_SECONDS}")
    return seconds


def _chosen(names: list[str] | None) -> list[Rule]:
    rules = {rule.name: rule for rule in all_rules()}
    unknown = [name for name in names or [] if name not in rules]
    if unknown:
        raise CommandError(
            f"no rule is called '{unknown[0]}'; --list names them.", returncode=EXIT_USAGE
        )
    return [rules[name] for name in names] if names else list(rules.values())


def _scope(sample: bool) -> Everything:
    return Sample() if sample else Everything()


def _look(rules: list[Rule], look: Everything) -> Broken:
    return {rule.name: rule.broken(look) for rule in rules}


def _cost(rows: int, seconds: float) -> str:
    """Say what the look took; a row counts for each rule that reads it."""
    rate = rows / seconds if seconds else 0
    return f"{rows:,} rows of large tables in {seconds:.1f}s: {rate:,.0f} rows/s."


def _summary(rules: list[Rule], broken: Broken) -> str:
    rows = pluralize(sum(map(len, broken.values())), "row breaks", "rows break")
    return f"{pluralize(len(rules), 'rule')}, {rows} them."


def _end(broken: bool) -> None:
    if broken:
        sys.exit(EXIT_REFUSED)
