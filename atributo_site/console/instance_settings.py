"""Weight and capacity, changed on an instance's page whatever its state."""

from django import forms
from django.http import QueryDict

from allocation import availability
from allocation.busy import patiently
from allocation.errors import AtributoError
from allocation.logic.wishes import MOST_CAPACITY, MOST_WEIGHT
from atributo_site.console.form_errors import said
from atributo_site.console.numbers import whole


class SettingsForm(forms.Form):
    weight = forms.IntegerField(min_value=1, max_value=MOST_WEIGHT)
    capacity = forms.IntegerField(required=False, min_value=0, max_value=MOST_CAPACITY)


def configure(instance_id: str, typed: QueryDict) -> None:
    """Refused when somebody else changed the instance since the page was read."""
    form = SettingsForm(typed)
    if not form.is_valid():
        raise AtributoError(said(form))
    seen = whole(typed.get("epoch", ""))
    patiently(lambda: availability.configure(instance_id, epoch=seen, **form.cleaned_data))
