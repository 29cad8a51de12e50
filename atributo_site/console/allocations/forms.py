"""The forms of the allocations screens: what if, the pace of a rebalance, labels."""

from django import forms

from allocation.errors import InvalidSetting
from allocation.logic.labels import read
from atributo_site.console.base.forms import WholeField


class WhatIf(forms.Form):
    add = WholeField(required=False, min_value=0, max_value=10_000)
    remove = forms.CharField(required=False, max_length=2000)


class PaceForm(forms.Form):
    moves_per_minute = WholeField(min_value=1, max_value=1_000_000)


def asked_labels(text: str) -> dict[str, str]:
    """Read labels as people write them: zone=a, disk=ssd."""
    try:
        return read(part for part in text.split(",") if part.strip())
    except ValueError as error:
        raise InvalidSetting(str(error)) from None
