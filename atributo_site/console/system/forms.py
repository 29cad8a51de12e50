"""The form that makes a token."""

from typing import Any

from django import forms

from atributo_site.web import tokens


class TokenForm(forms.Form):
    name = forms.CharField(max_length=tokens.LONGEST_NAME)
    level = forms.ChoiceField()
    days = forms.IntegerField(min_value=1, max_value=tokens.MOST_DAYS)

    def __init__(self, user: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["level"].choices = [  # type: ignore[attr-defined]
            (level.value, level.value) for level in tokens.levels_of(user)
        ]
