"""The filter of the list, and the note of an acknowledgement."""

from django import forms

from atributo_site.console.base.forms import PeriodForm
from atributo_site.core.incidents.symptom import Severity
from atributo_site.models import LONGEST_NOTE

SEVERITIES = [("", "Any severity"), *((each.value, each.value.capitalize()) for each in Severity)]


class IncidentFilter(PeriodForm):
    """Filter by severity and time, such as 2h."""

    severity = forms.ChoiceField(required=False, choices=SEVERITIES)


class NoteForm(forms.Form):
    note = forms.CharField(required=False, max_length=LONGEST_NOTE)
