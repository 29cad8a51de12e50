"""The forms of the allocations screens: what if, and the pace of a rebalance."""

from django import forms


class WhatIf(forms.Form):
    add = forms.IntegerField(required=False, min_value=0, max_value=10_000)
    remove = forms.CharField(required=False, max_length=2000)


class PaceForm(forms.Form):
    moves_per_minute = forms.IntegerField(min_value=1, max_value=1_000_000)
