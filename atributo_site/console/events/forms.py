"""The filter of the list of events."""

from typing import Any

from django import forms
from django.db.models import Value
from django.db.models.functions import Coalesce

from atributo_site.console.base.forms import PeriodForm
from atributo_site.core.incidents.symptom import Severity

SEVERITIES = [("", "any"), *((each.value, each.value) for each in Severity)]
APART = {"by", "severity"}  # they are no columns


class EventFilter(PeriodForm):
    """Filter events by subject, kind, actor, severity and time, such as 2h."""

    period_field = "at"

    subject = forms.CharField(required=False, max_length=320)
    kind = forms.CharField(required=False, max_length=64)
    actor = forms.CharField(required=False, max_length=255)
    severity = forms.ChoiceField(required=False, choices=SEVERITIES)
    by = forms.ChoiceField(required=False, choices=[("", "anybody"), ("people", "people")])

    def filtered(self, rows: Any) -> Any:
        """Narrow the keys first: pages follow the key, and a time long ago would be far away."""
        given = {name: value for name, value in self.cleaned_data.items() if name not in APART}
        rows = rows.near(given["since"], given["until"])
        if not given["subject"]:
            return self.compared(rows, given)
        # One subject is narrower than one kind, but SQLite has no statistics to know it.
        kind = given.pop("kind")
        rows = rows.alias(its_kind=Coalesce("kind", Value("")))
        return self.compared(rows.filter(its_kind=kind) if kind else rows, given)
