"""What is wrong with transactions and locks."""

from typing import Any

from atributo_site.core.incidents.cure import Cure
from atributo_site.core.incidents.symptom import Severity, Symptom
from atributo_site.core.text import pluralize

STUCK = "The rollback failed. Its documents stay locked until it succeeds."


def symptoms(seen: dict[str, Any], *, has_curator: bool) -> list[Symptom]:
    """Take what `snapshot` returned; overdue ones count only where nobody rolls them back."""
    return [
        *_stuck(seen.get("stuck", 0), seen.get("stuck_first", [])),
        *([] if has_curator else _overdue(seen.get("overdue", 0))),
        *_orphans(seen.get("orphaned_locks", 0), seen.get("orphaned_first", [])),
        *_held(seen.get("held_long", [])),
    ]


def _stuck(count: int, first: list[dict[str, Any]]) -> list[Symptom]:
    if not count:
        return []
    return [
        Symptom(
            kind="transactions.stuck",
            subject="site:transactions",
            severity=Severity.ERROR,
            title=pluralize(count, "transaction is stuck", "transactions are stuck"),
            detail=" ".join([*(_named(each) for each in first), STUCK]),
            command="manage.py transactions list --kind stuck",
            cure=_try_again(first[0]) if first else None,
            affected=pluralize(count, "transaction"),
            since=min((each["since"] for each in first), default=None),
        )
    ]


def _named(each: dict[str, Any]) -> str:
    return f"Transaction {each['id']}: {each['error'][:160] or 'no error is known'}."


def _try_again(each: dict[str, Any]) -> Cure:
    preview = "A page shows which values the documents get back. If it fails, nothing changes."
    label = f"Roll back {each['id']} again"
    return Cure("transaction.retry", label, preview, str(each["id"]))


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


def _orphans(count: int, first: list[dict[str, Any]]) -> list[Symptom]:
    if not count:
        return []
    return [
        Symptom(
            kind="locks.orphaned",
            subject="site:locks",
            severity=Severity.WARNING,
            title=f"{pluralize(count, 'lock outlived', 'locks outlived')} the transaction",
            detail=" ".join(["The curator releases it in its next sweep.", *_documents(first)]),
            command="manage.py locks list",
            cure=_release(first[0]) if first else None,
            affected=pluralize(count, "lock"),
        )
    ]


def _documents(first: list[dict[str, Any]]) -> list[str]:
    return [f"Locked: {', '.join(each['document'] for each in first)}."] if first else []


def _release(lock: dict[str, Any]) -> Cure:
    preview = "A page first says what happens to the transaction that holds it."
    return Cure("lock.release", f"Release {lock['document']}", preview, str(lock["id"]))


def _held(locks: list[dict[str, Any]]) -> list[Symptom]:
    """Report each document that somebody has waited for too long."""
    return [
        Symptom(
            kind="lock.held",
            subject=f"document:{lock['document']}",
            severity=Severity.WARNING,
            title=f"{pluralize(lock['waiting'], 'transaction waits', 'transactions wait')} for"
            f" {lock['document']}",
            detail=f"Transaction {lock['holder']} of {lock['owner'] or 'no owner'} holds it.",
            command=f"manage.py locks release {lock['id']} --reason '...'",
            cure=_release(lock),
            affected=pluralize(lock["waiting"], "transaction"),
            since=lock["since"],
        )
        for lock in locks
    ]
