"""The form that makes a token."""

from typing import Any

from django import forms
from django.core.validators import MaxValueValidator

from atributo_site.console.base.forms import WholeField
from atributo_site.models import TokenScope
from atributo_site.web import tokens


class TokenForm(forms.Form):
    name = forms.CharField(max_length=tokens.LONGEST_NAME)
    level = forms.ChoiceField()
    source = forms.ChoiceField(choices=TokenScope.Source.choices, required=False)
    days = WholeField(min_value=1)

    def __init__(self, user: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["days"].validators.append(MaxValueValidator(tokens.most_days()))
        self.fields["level"].choices = [  # type: ignore[attr-defined]
            (level.value, level.value) for level in tokens.levels_of(user)
        ]

    def clean_source(self) -> str:
        return self.cleaned_data["source"] or TokenScope.Source.MANUAL
