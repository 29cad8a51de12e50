"""Columns of the list of jobs: which there are, and which the address asks for."""

from typing import NamedTuple

from django.http import QueryDict

TITLES = {
    "state": "State",
    "script": "Script",
    "data": "Data",
    "queue": "Queue",
    "attempt": "Attempt",
    "when": "When",
    "pushed": "Pushed",
    "by": "Pushed by",
    "runs": "Runs",
    "sticky": "Sticky key",
    "instance": "Instance",
    "unique": "Unique key",
}
USUAL = {"state", "script", "data", "queue", "attempt", "when"}
NUMBERS = {"attempt", "runs"}


class Column(NamedTuple):
    name: str
    title: str
    shown: bool

    @property
    def is_number(self) -> bool:
        return self.name in NUMBERS


class Columns(NamedTuple):
    all: list[Column]
    asked: bool

    @property
    def shown(self) -> list[Column]:
        return [column for column in self.all if column.shown]

    def has(self, name: str) -> bool:
        return any(column.name == name for column in self.shown)


def columns(given: QueryDict) -> Columns:
    """The usual ones, unless the address names others that exist."""
    asked = TITLES.keys() & set(given.getlist("columns"))
    shown = asked or USUAL
    return Columns([Column(name, TITLES[name], name in shown) for name in TITLES], bool(asked))
