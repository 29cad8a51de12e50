"""Begin, preview and adjust a drain, and say in words what it does with the keys."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import QueryDict

from allocation.errors import NotDraining
from allocation.models import Drain
from allocation.placement import drains, plans
from allocation.placement.plans import Plan
from atributo_site.console.base.forms import checked
from atributo_site.console.instances.forms import AdjustForm, DrainForm
from atributo_site.core.errors import AtributoError
from atributo_site.core.retry import retry_busy
from atributo_site.core.text import pluralize
from atributo_site.web.format import roughly

PREVIEWED = 1_000
NOTHING_MOVES = "nothing moves; keys leave when they are deallocated"


@dataclass(frozen=True)
class Preview:
    sentence: str
    plan: Plan | None  # None: nothing would be moved


def preview(row: Any, form: DrainForm) -> Preview | None:
    """Return what the drain in the form would do; None when it could not begin."""
    if not form.is_valid():
        return None
    sentence = how_jobs_leave(row.load, form.pace, form.deadline_seconds)
    is_moving = form.pace is not None or form.deadline_seconds is not None
    return Preview(sentence, plans.plan_drain(row.pk, most=PREVIEWED) if is_moving else None)


def forced_moves(row: Any) -> Plan | None:
    """Return what moving all keys at once would do; None where there are none to move."""
    is_possible = row.state == "draining" and row.load
    return plans.plan_drain(row.pk, most=PREVIEWED) if is_possible else None


def begin(instance_id: str, typed: QueryDict) -> str:
    """Begin a drain and return the sentence that says so."""
    form = checked(DrainForm(typed))
    settings: dict[str, Any] = {
        "reason": form.cleaned_data["reason"],
        "deadline_seconds": form.deadline_seconds,
        "moves_per_minute": form.pace,
    }
    retry_busy(lambda: drains.drain(instance_id, **settings))
    if form.pace is None and form.deadline_seconds is None:
        following = f"Now {NOTHING_MOVES}, or when you set a pace or move all of them."
    else:
        following = "The curator moves its keys. This page shows the progress."
    return f"The drain has started. {following}"


def adjust(instance_id: str, typed: QueryDict) -> str:
    """Change a running drain and return the sentence that says so."""
    changes = checked(AdjustForm(typed)).changes
    try:
        retry_busy(lambda: drains.adjust(instance_id, **changes))
    except NotDraining as error:
        raise AtributoError(f"{instance_id} is no longer draining.") from error
    return "Pace and deadline are set." if "deadline_seconds" in changes else "The pace is set."


def progress(drain: Drain, jobs: int, now: datetime) -> str:
    """Say what a running drain does with the keys that are left."""
    if not jobs:
        return "no keys are left"
    if drain.stuck:
        return "the keys have nowhere to go: no other instance has room"
    left = None if drain.deadline_at is None else (drain.deadline_at - now).total_seconds()
    return how_jobs_leave(jobs, drain.moves_per_minute, None if left is None else max(0.0, left))


def how_jobs_leave(jobs: int, pace: int | None, deadline_seconds: float | None) -> str:
    if deadline_seconds == 0:
        return "all keys are moving now"
    if pace is None and deadline_seconds is None:
        return NOTHING_MOVES
    if pace is None:
        return f"nothing moves for {roughly(deadline_seconds or 0)}; then all remaining keys move"
    seconds = min(jobs * 60 / pace, deadline_seconds or float("inf"))
    return f"{pluralize(pace, 'move')} per minute, about {roughly(seconds)} to go"
