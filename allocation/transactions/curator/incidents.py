"""What is wrong with transactions and locks."""

from typing import Any

from atributo_site.core.incidents.symptom import Severity, Symptom
from atributo_site.core.text import pluralize


def symptoms(seen: dict[str, Any], *, has_curator: bool) -> list[Symptom]:
    """Take what `snapshot` returned; overdue ones count only where nobody rolls them back."""
    return [
        *_stuck(seen.get("stuck", 0)),
        *([] if has_curator else _overdue(seen.get("overdue", 0))),
        *_orphans(seen.get("orphaned_locks", 0)),
    ]


def _stuck(count: int) -> list[Symptom]:
    if not count:
        return []
    return [
        Symptom(
            kind="transactions.stuck",
            subject="site:transactions",
            severity=Severity.ERROR,
            title=pluralize(count, "transaction is stuck", "transactions are stuck"),
            detail="The roll back failed. Its documents stay locked until it succeeds.",
            command="manage.py transactions list --kind stuck",
            affected=pluralize(count, "transaction"),
        )
    ]


def _overdue(count: int) -> list[Symptom]:
    if not count:
        return []
    return [
        Symptom(
            kind="transactions.overdue",
            subject="site:transactions",
            severity=Severity.ERROR,
            title=pluralize(count, "transaction is overdue", "transactions are overdue"),
            detail="It has timed out, and no curator is active to roll it back.",
            command="manage.py run_curator",
            affected=pluralize(count, "transaction"),
        )
    ]


def _orphans(count: int) -> list[Symptom]:
    if not count:
        return []
    return [
        Symptom(
            kind="locks.orphaned",
            subject="site:locks",
            severity=Severity.WARNING,
            title=f"{pluralize(count, 'lock outlived', 'locks outlived')} the transaction",
            detail="The curator releases it in its next sweep.",
            command="manage.py locks list",
            affected=pluralize(count, "lock"),
        )
    ]
