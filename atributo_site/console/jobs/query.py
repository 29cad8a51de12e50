"""Read the filters of a list of jobs from its address, and write them as commands."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from shlex import quote
from typing import Any

from django.core.exceptions import BadRequest

from atributo_site.console.base.forms import BadMoment, moment
from atributo_site.console.base.terminal import same_list
from atributo_site.web.pagination import whole
from queues.queries.failures import error_of
from queues.queries.search import Found, Period, answered_by_index, search
from queues.queries.states import STATES

LONGEST = 500
MOST_IDS = 100
FLAGS = {
    "text": "--query",
    "state": "--state",
    "fingerprint": "--fingerprint",
    "since": "--since",
    "until": "--until",
}


def _ids(text: str) -> list[int]:
    """Read the ids of jobs that were changed together; anything else is none."""
    ids = [whole(part) for part in text.split(",")[:MOST_IDS]]
    return [number for number in ids if number is not None]


def written_ids(ids: Iterable[int]) -> str:
    return ",".join(str(number) for number in ids)


class Query:
    """The filters in the address."""

    def __init__(self, given: Any, now: datetime) -> None:
        self.text = given.get("q", "").strip()[:LONGEST]
        self.state = given.get("state", "") if given.get("state", "") in STATES else ""
        self.fingerprint = given.get("fingerprint", "")[:16]
        self.ids = _ids(given.get("ids", ""))
        self.upto = whole(given.get("upto", ""))
        self.since, self.until = (given.get(name, "").strip()[:40] for name in ("since", "until"))
        self.now = now

    def search(self, state: str | None = None) -> Found:
        found = search(
            self.text,
            state=self.state if state is None else state,
            fingerprint=self.fingerprint,
            newest=self.upto,
            ended=self.period,
            now=self.now,
        )
        return replace(found, jobs=found.jobs.filter(pk__in=self.ids)) if self.ids else found

    @property
    def wrong(self) -> str:
        """Return the sentence about a time that cannot be read."""
        try:
            self._ends()
        except BadMoment as error:
            return str(error)
        return ""

    @property
    def period(self) -> Period | None:
        """Return the period in which the jobs must have ended."""
        try:
            period = self._ends()
        except BadMoment as error:
            raise BadRequest(str(error)) from error
        return period if any(period) else None

    def _ends(self) -> Period:
        return moment(self.since, self.now), moment(self.until, self.now)

    @property
    def narrow(self) -> bool:
        """Say whether anything but the state filters."""
        return bool(self.text or self.fingerprint or self.since or self.until or self.ids)

    @property
    def counted(self) -> bool:
        """Say whether an index counts every state, not only the current one."""
        return answered_by_index(self.text) and self.period is None

    def sentence(self) -> str:
        parts = [
            self.state,
            self.text,
            self.fingerprint and f"error {self.error!r}",
            self.ids and f"{len(self.ids)} chosen",
            self.since and f"ended since {self.since}",
            self.until and f"ended before {self.until}",
        ]
        return " · ".join(part for part in parts if part) or "every job"

    @cached_property
    def error(self) -> str:
        """Name the group of the fingerprint by the error of its newest job."""
        return error_of(self.fingerprint) or "of jobs that are gone"

    def stored(self) -> dict[str, str]:
        """Return the query as an operation stores it, with ages turned into moments."""
        names = ("text", "state", "fingerprint")
        given = {name: getattr(self, name) for name in names if getattr(self, name)}
        ends = zip(("since", "until"), self.period or (), strict=False)
        return given | {name: at.isoformat() for name, at in ends if at is not None}

    def address(self) -> dict[str, str]:
        """Return the parameters of the address that leads here again."""
        names = {"q": "text", "state": "state", "fingerprint": "fingerprint"}
        named = {**names, "since": "since", "until": "until"}
        given = {name: getattr(self, attribute) for name, attribute in named.items()}
        given["ids"] = written_ids(self.ids)
        return {name: value for name, value in given.items() if value}


def equivalents(query: Query) -> dict[str, str]:
    """Return the same search as command and curl; the command has no `upto`, and no list of ids."""
    if query.ids:
        return {}
    stored, upto = query.stored(), "" if query.upto is None else str(query.upto)
    command = "" if upto else "manage.py queued_jobs list"
    by_flag = {flag: stored.get(name, "") for name, flag in FLAGS.items()}
    return same_list("/api/v1/jobs", {**stored, "upto": upto}, command, by_flag)


def flags(stored: dict[str, str]) -> list[str]:
    """Return a stored query as options of a command."""
    return [f"{flag} {quote(stored[name])}" for name, flag in FLAGS.items() if name in stored]
