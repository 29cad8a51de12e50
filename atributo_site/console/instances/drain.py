"""The drain on an instance's page: what was typed, and what it does with the jobs, in words.

A drain that runs: another pace, another deadline, or none.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import QueryDict

from allocation.errors import NotDraining
from allocation.models import Drain
from allocation.placement import drains, plans
from allocation.placement.plans import Plan
from atributo_site.console.base.forms import said
from atributo_site.console.instances.forms import ChangeForm, DrainForm
from atributo_site.core.errors import AtributoError
from atributo_site.core.retry import retry_busy
from atributo_site.core.text import pluralize
from atributo_site.web.format import roughly

PREVIEWED = 1_000
NOTHING_MOVES = "nothing is moved: job ids leave when they are deallocated"


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
