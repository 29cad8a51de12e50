"""The active curator looks at one rule after the other; the dashboard shows what it saw."""

import time
from datetime import datetime
from typing import Any

from django.db.transaction import atomic

from allocation.events import record
from allocation.leases import HeldLease
from atributo_site.invariants import Rule, all_rules
from atributo_site.models import RuleCheck


def check_next(now: datetime, lease: HeldLease) -> int:
    """Check the rule whose last check is the oldest. Nothing is mended by looking."""
    check(_most_overdue(), now, lease)
    return 0


def check(rule: Rule, now: datetime, lease: HeldLease) -> list[str]:
    began = time.monotonic()
    broken = rule.broken()
    took_ms = round((time.monotonic() - began) * 1000)
    with atomic():
        lease.guard()
        _remember(rule, broken, took_ms, now)
    return broken


def summary() -> dict[str, Any]:
    """Every rule once checked, the broken ones by name, and the age of the oldest look."""
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
    """Each rule with its last look, the broken ones first."""
    seen = RuleCheck.objects.in_bulk()
    rules = [_shown(rule, seen.get(rule.name)) for rule in all_rules()]
    return sorted(rules, key=lambda rule: not rule["broken"])


def _shown(rule: Rule, seen: RuleCheck | None) -> dict[str, Any]:
    broken = seen.broken if seen else []
    state, word = ("pending", "not looked at yet") if seen is None else ("ok", "holds")
    return {
        "name": rule.name,
        "sentence": rule.sentence,
        "broken": broken,
        "state": "error" if broken else state,
        "word": "broken" if broken else word,
        "checked_at": seen and seen.checked_at,
        "took_ms": seen and seen.took_ms,
    }


def _most_overdue() -> Rule:
    seen = dict(RuleCheck.objects.values_list("name", "checked_at"))
    never = [rule for rule in all_rules() if rule.name not in seen]
    return never[0] if never else min(all_rules(), key=lambda rule: seen[rule.name])


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
