"""The drain on an instance's page: what was typed, and what it does with the jobs, in words.

A drain that runs: another pace, another deadline, or none.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django import forms
from django.http import QueryDict

from allocation.errors import NotDraining
from allocation.models import Drain
from allocation.placement import drains, plans
from allocation.placement.plans import Plan
from atributo_site.console.base.forms import said
from atributo_site.core.errors import AtributoError
from atributo_site.core.retry import retry_busy
from atributo_site.core.text import milliseconds, pluralize
from atributo_site.web.format import roughly

PREVIEWED = 1_000
MINUTE_MS = 60_000
NOTHING_MOVES = "nothing is moved: job ids leave when they are deallocated"


class MinutesField(forms.FloatField):
    """A number of minutes, or a span such as 45m, 1h30m or 2d."""

    def to_python(self, value: Any) -> Any:
        span_ms = milliseconds(value) if isinstance(value, str) else None
        return super().to_python(value) if span_ms is None else span_ms / MINUTE_MS


class DrainForm(forms.Form):
    reason = forms.CharField(required=False, max_length=255)
    deadline_minutes = MinutesField(required=False, min_value=0, max_value=525_600)
    moves_per_minute = forms.IntegerField(required=False, min_value=1, max_value=1_000_000)

    @property
    def pace(self) -> int | None:
        return self.cleaned_data["moves_per_minute"]

    @property
    def deadline_seconds(self) -> float | None:
        minutes = self.cleaned_data["deadline_minutes"]
        return None if minutes is None else minutes * 60


@dataclass(frozen=True)
class Preview:
    """Without a plan nothing would be moved."""

    sentence: str
    plan: Plan | None


def preview(row: Any, form: DrainForm) -> Preview | None:
    """What a drain as it was typed would do; None when it could not be begun."""
    if not form.is_valid():
        return None
    sentence = how_jobs_leave(row.load, form.pace, form.deadline_seconds)
    is_moving = form.pace is not None or form.deadline_seconds is not None
    return Preview(sentence, plans.plan_drain(row.pk, most=PREVIEWED) if is_moving else None)


def forced(row: Any) -> Plan | None:
    """What moving all jobs at once would do; None where there is nothing to move."""
    is_possible = row.state == "draining" and row.load
    return plans.plan_drain(row.pk, most=PREVIEWED) if is_possible else None


def begin(instance_id: str, form: DrainForm) -> None:
    retry_busy(
        lambda: drains.drain(
            instance_id,
            reason=form.cleaned_data["reason"],
            deadline_seconds=form.deadline_seconds,
            moves_per_minute=form.pace,
        )
    )


def what_is_next(form: DrainForm) -> str:
    if form.pace is None and form.deadline_seconds is None:
        return f"Now {NOTHING_MOVES}, or when you set a pace or move all of them."
    return "The curator moves its job ids; this page shows how far it is."


def valid(typed: QueryDict) -> DrainForm:
    form = DrainForm(typed)
    if not form.is_valid():
        raise AtributoError(said(form))
    return form


def doing(found: Drain, jobs: int, now: datetime) -> str:
    """What a drain that runs does with the jobs that are left."""
    if not jobs:
        return "no job id is left"
    if found.stuck:
        return "job ids have nowhere to go: no other instance has room for them"
    return how_jobs_leave(jobs, found.moves_per_minute, _seconds_left(found, now))


def how_jobs_leave(jobs: int, pace: int | None, deadline_seconds: float | None) -> str:
    if deadline_seconds == 0:
        return "all job ids are moved now"
    if pace is None and deadline_seconds is None:
        return NOTHING_MOVES
    if pace is None:
        return f"nothing is moved for {roughly(deadline_seconds or 0)}; then all that are left"
    seconds = min(jobs * 60 / pace, deadline_seconds or float("inf"))
    return f"{pluralize(pace, 'move')} a minute, about {roughly(seconds)} to go"


def _seconds_left(found: Drain, now: datetime) -> float | None:
    if found.deadline_at is None:
        return None
    return max(0.0, (found.deadline_at - now).total_seconds())


BOTH = "Give a new deadline or tick that there is none, not both."


class ChangeForm(forms.Form):
    """The pace is always as it was typed; a deadline that is not typed stays."""

    moves_per_minute = forms.IntegerField(required=False, min_value=1, max_value=1_000_000)
    deadline_minutes = MinutesField(required=False, min_value=0, max_value=525_600)
    no_deadline = forms.BooleanField(required=False)

    def clean(self) -> dict[str, Any]:
        given = self.cleaned_data
        if given.get("no_deadline") and given.get("deadline_minutes") is not None:
            raise forms.ValidationError(BOTH)
        return given

    @property
    def wishes(self) -> dict[str, Any]:
        given = self.cleaned_data
        found = {"moves_per_minute": given["moves_per_minute"]}
        if given["deadline_minutes"] is not None:
            found["deadline_seconds"] = given["deadline_minutes"] * 60
        return found | ({"deadline_seconds": None} if given["no_deadline"] else {})


def change(instance_id: str, typed: QueryDict) -> str:
    """What was done, as a sentence."""
    form = ChangeForm(typed)
    if not form.is_valid():
        raise AtributoError(said(form))
    try:
        retry_busy(lambda: drains.adjust(instance_id, **form.wishes))
    except NotDraining as error:
        raise AtributoError(f"{instance_id} drains no longer.") from error
    return "Pace and deadline are set." if "deadline_seconds" in form.wishes else "The pace is set."
