"""How an instance becomes available again, and what each way means.

Weight and capacity, changed on an instance's page whatever its state.
"""

from dataclasses import dataclass

from django import forms
from django.http import QueryDict

from allocation.instances import availability
from allocation.instances.availability import MANUAL, RESTORED_SECONDS
from allocation.logic.instance_settings import MOST_CAPACITY, MOST_WEIGHT
from allocation.models import Instance
from atributo_site.console.base.forms import said
from atributo_site.core.errors import AtributoError
from atributo_site.core.retry import retry_busy
from atributo_site.web.pagination import whole


class SettingsForm(forms.Form):
    weight = forms.IntegerField(min_value=1, max_value=MOST_WEIGHT)
    capacity = forms.IntegerField(required=False, min_value=0, max_value=MOST_CAPACITY)


def configure(instance_id: str, typed: QueryDict) -> None:
    """Refused when somebody else changed the instance since the page was read."""
    form = SettingsForm(typed)
    if not form.is_valid():
        raise AtributoError(said(form))
    seen = whole(typed.get("epoch", ""))
    retry_busy(lambda: availability.configure(instance_id, epoch=seen, **form.cleaned_data))


DECIDERS = {Instance.Source.DNS: "DNS", Instance.Source.WORKER: "its worker"}


@dataclass(frozen=True)
class WayBack:
    verb: str
    label: str
    sentence: str


def ways_back(row: Instance) -> list[WayBack]:
    """One where both would do the same."""
    if row.available:
        return []
    ends = " The drain ends." if row.state == "draining" else ""
    again = f"It may get new job ids again.{ends}"
    if row.origin == MANUAL and row.lease_until is None:
        return [WayBack("restore", "Restore", again)]
    return [
        WayBack("restore", "Restore", f"{again} {_handed_back(row)}"),
        WayBack("available", "Make available", f"{again} {_kept(row)}"),
    ]


def _handed_back(row: Instance) -> str:
    if row.lease_until is not None:
        return f"It needs a heartbeat within {RESTORED_SECONDS} seconds."
    return f"From then on {DECIDERS[Instance.Source(row.origin)]} decides."


def _kept(row: Instance) -> str:
    if row.lease_until is not None:
        return "It needs no heartbeat."
    return f"You have decided: {DECIDERS[Instance.Source(row.origin)]} cannot undo it."
