"""The forms of an instance's page."""

from typing import Any

from django import forms

from allocation.logic.instance_settings import MOST_CAPACITY, MOST_WEIGHT
from atributo_site.core.text import milliseconds


class SettingsForm(forms.Form):
    weight = forms.IntegerField(min_value=1, max_value=MOST_WEIGHT)
    capacity = forms.IntegerField(required=False, min_value=0, max_value=MOST_CAPACITY)


MINUTE_MS = 60_000


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
