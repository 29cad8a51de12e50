"""A drain that runs: another pace, another deadline, or none."""

from typing import Any

from django import forms
from django.http import QueryDict

from allocation import drains
from allocation.busy import patiently
from allocation.errors import AtributoError, NotDraining
from atributo_site.console.form_errors import said
from atributo_site.console.instance_drain import MinutesField

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
        patiently(lambda: drains.adjust(instance_id, **form.wishes))
    except NotDraining as error:
        raise AtributoError(f"{instance_id} drains no longer.") from error
    return "Pace and deadline are set." if "deadline_seconds" in form.wishes else "The pace is set."
