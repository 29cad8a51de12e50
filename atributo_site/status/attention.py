"""List what an operator should look at first: the top of what is wrong now."""

from typing import Any

from atributo_site.core.incidents.symptom import Severity
from atributo_site.core.text import runnable
from atributo_site.status.screens import screen_of
from atributo_site.status.symptoms import symptoms

LEVELS = (Severity.ERROR, Severity.WARNING)


def attention(snapshot: dict[str, Any]) -> list[dict[str, Any]]:
    """Return errors first, then warnings, from the snapshot: no curator need run."""
    return [
        {
            "level": each.severity,
            "title": each.title,
            "detail": each.detail,
            "command": runnable(each.command),
            "screen": screen_of(each.kind, each.subject),
            "kind": each.kind,
            "subject": each.subject,
            "cure": each.cure.stored() if each.cure else {},
            "affected": each.affected,
            "since": each.since,
        }
        for each in symptoms(snapshot)
        if each.severity in LEVELS
    ]
