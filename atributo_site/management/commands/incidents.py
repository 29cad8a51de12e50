"""`manage.py incidents`: list what is and was wrong, show one, acknowledge one."""

import argparse
from datetime import UTC, datetime, timedelta
from typing import Any

from atributo_site.commands import AtributoCommand, integer, listed_number, with_json
from atributo_site.core.incidents.symptom import Severity
from atributo_site.core.models.clock import database_now
from atributo_site.core.text import milliseconds, runnable
from atributo_site.incidents import rows
from atributo_site.incidents.listing import MOST, incidents
from atributo_site.models import Incident

COLUMNS = ["id", "severity", "state", "title", "detail", "affected", "since", "count"]
FACTS = [
    "id", "kind", "subject", "severity", "state", "title", "detail", "affected", "command",
    "count", "since", "opened_at", "last_seen_at", "resolved_at", "acknowledged_by",
    "acknowledged_at", "note",
]  # fmt: skip


class Command(AtributoCommand):
    help = "What is wrong now, and what was wrong lately: list, show, acknowledge."

    def add_arguments(self, parser: Any) -> None:
        does = parser.add_subparsers(dest="does", required=True)
        listed = with_json(does.add_parser("list", help="The worst and newest first."))
        listed.add_argument("--severity", choices=[each.value for each in Severity], default="")
        listed.add_argument("--since", type=_moment, help="2h, 7d or 2030-01-31T12:00, in UTC.")
        listed.add_argument("--until", type=_moment, help="Opened before that moment.")
        listed.add_argument("--limit", type=listed_number, default=MOST)
        for name in ("show", "acknowledge"):
            with_json(does.add_parser(name)).add_argument("id", type=integer)
        does.choices["acknowledge"].add_argument("--note", default="", help="What you know.")

    def perform(self, *, does: str, **options: Any) -> None:
        getattr(self, f"_{does}")(**options)

    def _list(self, *, json: bool, limit: int, severity: str, **options: Any) -> None:
        now = database_now()
        period = {name: _at(options[name], now) for name in ("since", "until")}
        found = incidents(now, severity=severity, most=limit, **period)
        if json:
            return self.show([_facts(row) for row in [*found.open, *found.resolved]])
        lines = [_facts(row) for row in [*found.open, *found.resolved]]
        if not lines:
            return self.lines(["Nothing is wrong, and nothing was."])
        self.table(COLUMNS, [[_text(line[name]) for name in COLUMNS] for line in lines])

    def _show(self, *, id: int, json: bool, **options: Any) -> None:
        self._print(rows.incident_or_404(id), json)

    def _acknowledge(self, *, id: int, note: str, json: bool, **options: Any) -> None:
        row = rows.acknowledge(id, note)
        if json:
            return self.show(_facts(row))
        self.lines([f"Incident {id} is acknowledged: {row.title}"])

    def _print(self, row: Incident, as_json: bool) -> None:
        if as_json:
            return self.show(_facts(row))
        self.table(["", ""], [[name, _text(value)] for name, value in _facts(row).items()])


def _facts(row: Incident) -> dict[str, Any]:
    facts = {name: getattr(row, name) for name in FACTS}
    return {**facts, "since": row.shown_since, "command": runnable(row.command)}


def _text(value: Any) -> str:
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M:%S}"
    return "–" if value in (None, "") else str(value)


def _moment(text: str) -> datetime | timedelta:
    """Read an age or a moment, in UTC unless it says otherwise."""
    age_ms = milliseconds(text)
    try:
        if age_ms is not None:
            return timedelta(milliseconds=age_ms)
        given = datetime.fromisoformat(text)
    except (ValueError, OverflowError) as error:
        why = f"{text} is neither an age like 2h nor a moment like 2030-01-31T12:00"
        raise argparse.ArgumentTypeError(why) from error
    return given if given.tzinfo else given.replace(tzinfo=UTC)


def _at(given: datetime | timedelta | None, now: datetime) -> datetime | None:
    if not isinstance(given, timedelta):
        return given
    return max(now - given, datetime.min.replace(tzinfo=UTC)) if given < timedelta(36500) else None
