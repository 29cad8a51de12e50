"""Show what a rebalance would move, start one at a pace, watch it, stop it."""

import argparse
import time
from typing import Any

from allocation.placement import plans, rebalance
from atributo_site.commands import AtributoCommand, integer
from atributo_site.core.retry import retry_busy
from atributo_site.core.text import pluralize

PAUSE_SECONDS = 0.5


class Command(AtributoCommand):
    help = "Show which keys would be elsewhere if they were placed today; with --pace, move them."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        how = parser.add_mutually_exclusive_group()
        how.add_argument("--pace", type=integer, metavar="MOVES_PER_MINUTE", help="start moving")
        how.add_argument("--stop", action="store_true", help="stop the one that runs")
        parser.add_argument("--watch", action="store_true", help="show the progress until done")

    def perform(self, pace: int | None, stop: bool, watch: bool, **options: Any) -> None:
        if stop:
            retry_busy(rebalance.stop)
        elif pace is not None:
            retry_busy(lambda: rebalance.start(moves_per_minute=pace))
        elif not watch:
            return self._preview(**options)
        if watch:
            self._watch()
        self._say(**options)

    def _preview(self, **options: Any) -> None:
        plan = plans.plan_rebalance()
        if options["json"]:
            return self.show(plan.facts)
        self.stdout.write(f"{len(plan.moves)} of {pluralize(plan.looked_at, 'key')} would move.")
        for move in plan.listed:
            self.stdout.write(f"{move.job_id}: {move.source} → {move.target}")

    def _watch(self) -> None:
        """Print a line for every change, until it is done or stopped."""
        seen = None
        while (current := rebalance.last()) is not None and current.is_running:
            if current.facts != seen:
                self.stderr.write(f"{current.progress.fraction:.0%} checked, {current.moved} moved")
            seen = current.facts
            time.sleep(PAUSE_SECONDS)

    def _say(self, **options: Any) -> None:
        current = rebalance.last()
        if options["json"]:
            return self.show(current.facts if current else {"running": False})
        if current is None:
            self.stdout.write("No rebalance has run yet.")
            return
        state = "running" if current.is_running else "stopped" if current.stopped else "done"
        self.stdout.write(f"The rebalance is {state}: {pluralize(current.moved, 'key')} moved.")
