"""The forms of an instance's page: weight and capacity, a drain, and changes of a drain."""

from typing import Any

from django import forms

from allocation.logic.instance_settings import MOST_CAPACITY, MOST_WEIGHT
from atributo_site.console.base.forms import NumberField, WholeField
from atributo_site.core.text import milliseconds

MINUTE_MS = 60_000
BOTH = "Enter a new deadline or remove it, not both."


class SettingsForm(forms.Form):
    weight = WholeField(min_value=1, max_value=MOST_WEIGHT)
    capacity = WholeField(required=False, min_value=0, max_value=MOST_CAPACITY)


class MinutesField(NumberField):
    """A number of minutes, or a span such as 45m, 1h30m or 2d."""

    def to_python(self, value: Any) -> Any:
        span_ms = milliseconds(value) if isinstance(value, str) else None
        return super().to_python(value) if span_ms is None else span_ms / MINUTE_MS


class PaceForm(forms.Form):
    deadline_minutes = MinutesField(required=False, min_value=0, max_value=525_600)
    moves_per_minute = WholeField(required=False, min_value=1, max_value=1_000_000)

    @property
    def pace(self) -> int | None:
        return self.cleaned_data["moves_per_minute"]

    @property
    def deadline_seconds(self) -> float | None:
        minutes = self.cleaned_data["deadline_minutes"]
        return None if minutes is None else minutes * 60


class DrainForm(PaceForm):
    reason = forms.CharField(required=False, max_length=255)


class AdjustForm(PaceForm):
    """Changes of a running drain: an empty pace means none, an empty deadline stays as it is."""

    no_deadline = forms.BooleanField(required=False)

    def clean(self) -> dict[str, Any]:
        given = self.cleaned_data
        if given.get("no_deadline") and given.get("deadline_minutes") is not None:
            raise forms.ValidationError(BOTH)
        return given

    @property
    def changes(self) -> dict[str, Any]:
        is_changed = self.deadline_seconds is not None or self.cleaned_data["no_deadline"]
        deadline = {"deadline_seconds": self.deadline_seconds} if is_changed else {}
        return {"moves_per_minute": self.pace, **deadline}
