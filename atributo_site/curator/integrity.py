"""Check the rules that must always hold, one after the other.

`verify`, the dashboard and the tests use the same list.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any

from django.db.transaction import atomic

from allocation import invariants as allocation
from allocation.transactions.curator import invariants as transactions
from atributo_site.core.events import record
from atributo_site.core.leases import HeldLease
from atributo_site.core.models import Event
from atributo_site.core.models.pieces import Everything, InPieces, Lasting, Sample
from atributo_site.models import RuleCheck
from pools import invariants as pools
from queues.maintenance import invariants as queues

NEWEST = 1000
SAMPLE = Sample()  # moves on with each check of a process


@dataclass(frozen=True)
class Rule:
    """Name a rule; `broken()` returns one line for each row that breaks it."""

    name: str
    sentence: str
    find: Callable[[], list[str]] | InPieces | Lasting

    def broken(self, look: Everything | None = None) -> list[str]:
        """Look at all rows, or at those of a sample where a table is large."""
        if isinstance(self.find, InPieces | Lasting):
            return self.find(look)
        return self.find()


def all_rules() -> list[Rule]:
    """Return the rules of all rooms."""
    rooms = (allocation, transactions, pools, queues)
    return [*(Rule(*each) for room in rooms for each in room.INVARIANTS), ONE_CURATOR]


def two_curators() -> list[str]:
    """Compare epochs: every curator that becomes active has a higher one than those before."""
    newest = Event.objects.filter(kind="curator.active").order_by("-pk")[:NEWEST]
    epochs = [(event.facts.get("epoch", 0), event.subject) for event in newest]
    return [
        f"{subject} at epoch {epoch}"
        for (epoch, subject), (before, _) in pairwise(epochs)
        if epoch <= before
    ]


ONE_CURATOR = Rule(
    "two curators", "No two curators were active at the same epoch, and epochs rise.", two_curators
)


def check_next(now: datetime, lease: HeldLease) -> int:
    """Check the rule whose last check is the oldest; it counts as no repair."""
    check(_most_overdue(), now, lease)
    return 0


def check(rule: Rule, now: datetime, lease: HeldLease) -> list[str]:
    began = time.monotonic()
    broken = rule.broken(SAMPLE)
    took_ms = round((time.monotonic() - began) * 1000)
    with atomic():
        lease.guard()
        _remember(rule, broken, took_ms, now)
    return broken


def summary() -> dict[str, Any]:
    """Count the rules that were checked and hold, and list the broken ones."""
    known = {rule.name for rule in all_rules()}
    checks = [each for each in RuleCheck.objects.all() if each.name in known]
    return {
        "rules": len(known),
        "checked": len(checks),
        "holding": sum(not each.broken for each in checks),
        "oldest_check": min((each.checked_at for each in checks), default=None),
        "broken": [
            {
                "name": each.name,
                "sentence": each.sentence,
                "rows": each.broken,
                "since": each.changed_at,
                "checked_at": each.checked_at,
            }
            for each in checks
            if each.broken
        ],
    }


def every_rule() -> list[dict[str, Any]]:
    """Return each rule with its last check, the broken ones first."""
    checks = RuleCheck.objects.in_bulk()
    rules = [_as_row(rule, checks.get(rule.name)) for rule in all_rules()]
    return sorted(rules, key=lambda rule: not rule["broken"])


def _as_row(rule: Rule, check: RuleCheck | None) -> dict[str, Any]:
    broken = check.broken if check else []
    state, word = ("pending", "not checked yet") if check is None else ("ok", "holds")
    return {
        "name": rule.name,
        "sentence": rule.sentence,
        "broken": broken,
        "state": "error" if broken else state,
        "word": "broken" if broken else word,
        "checked_at": check and check.checked_at,
        "took_ms": check and check.took_ms,
    }


def _most_overdue() -> Rule:
    checked_at = dict(RuleCheck.objects.values_list("name", "checked_at"))
    never = [rule for rule in all_rules() if rule.name not in checked_at]
    return never[0] if never else min(all_rules(), key=lambda rule: checked_at[rule.name])


def _remember(rule: Rule, broken: list[str], took_ms: int, now: datetime) -> None:
    before = RuleCheck.objects.filter(pk=rule.name).first()
    changed = bool(broken) != bool(before and before.broken)
    RuleCheck.objects.update_or_create(
        pk=rule.name,
        defaults={
            "sentence": rule.sentence,
            "broken": broken,
            "took_ms": took_ms,
            "checked_at": now,
            "changed_at": now if changed or before is None else before.changed_at,
        },
    )
    if changed:
        kind = "rule.broken" if broken else "rule.holds_again"
        record(kind, f"rule:{rule.name}", rows=broken)
