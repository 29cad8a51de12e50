"""JSON in a form, as strict as in a REST body: anything doubtful is refused with the reason."""

from typing import Any

from django import forms
from django.forms.fields import InvalidJSONInput

from atributo_site.rest.strict_json import NotStrictJSON, parsed


class StrictJSONField(forms.JSONField):
    """Django's own raises on numbers of thousands of digits, on depth and on half characters."""

    def to_python(self, value: Any) -> Any:
        if isinstance(value, str) and value not in self.empty_values:
            try:
                return parsed(value.encode())
            except NotStrictJSON as error:
                raise forms.ValidationError(f"This is not JSON: {error}.") from error
        return super().to_python(value)

    def bound_data(self, data: Any, initial: Any) -> Any:
        """What was typed is shown as it was typed."""
        return initial if self.disabled else InvalidJSONInput(data or "")
