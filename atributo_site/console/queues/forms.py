"""The forms of queues: make one, and what can be set on its page."""

from django import forms

from atributo_site.console.base.forms import SecondsField, WholeField
from queues import catalogue
from queues.logic.absence import WhenAway
from queues.models import Queue
from queues.models.queue import MOST_TARGET_AGE_SECONDS, MOST_WORKERS


class NewQueue(forms.Form):
    name = forms.CharField(max_length=255)
    max_workers = WholeField(label="Jobs at once", min_value=1, max_value=MOST_WORKERS)

    def clean_name(self) -> str:
        """Refuse an existing name: creating a queue must not scale another one."""
        name = self.cleaned_data["name"]
        if Queue.objects.existing().filter(name=name).exists():
            raise forms.ValidationError(f"A queue named {name} already exists.")
        return name


class ScaleForm(forms.Form):
    max_workers = WholeField(min_value=1, max_value=MOST_WORKERS)


class TargetAgeForm(forms.Form):
    target_age_seconds = SecondsField(
        required=False, min_value=1, max_value=MOST_TARGET_AGE_SECONDS
    )


class RetentionForm(forms.Form):
    retention_days = WholeField(min_value=1, max_value=catalogue.MOST_DAYS)


class RecordStartForm(forms.Form):
    record_start = forms.TypedChoiceField(
        choices=[("yes", "yes"), ("no", "no")], coerce=lambda text: text == "yes"
    )


class AwayForm(forms.Form):
    when_away = forms.ChoiceField(choices=[(each.value, each.value) for each in WhenAway])
    away_seconds = SecondsField(min_value=0, max_value=catalogue.MOST_AWAY_SECONDS)


class LimitsForm(forms.Form):
    limits = forms.JSONField(required=False, empty_value=None)
    weights = forms.JSONField(required=False, empty_value=None)


class StepForm(forms.Form):
    by = forms.TypedChoiceField(choices=[("-1", "-1"), ("1", "1")], coerce=int)
