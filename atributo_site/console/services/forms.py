"""The form that installs a service, and options typed as JSON."""

import json
from typing import Any

from django import forms
from django.http import QueryDict

from queues.errors import BadService


class InstallForm(forms.Form):
    folder = forms.CharField(max_length=1024)
    mount = forms.CharField(max_length=255)
    configuration = forms.CharField(required=False)
    development = forms.BooleanField(required=False)


def options_of(text: str) -> dict[str, Any]:
    """Read a configuration; an empty text has no option."""
    try:
        value = json.loads(text or "{}")
    except (ValueError, RecursionError) as error:
        raise BadService(f"The configuration is not valid JSON: {error}") from error
    if not isinstance(value, dict):
        raise BadService("The configuration must be a JSON object.")
    return value


def limits_of(given: QueryDict) -> Any:
    """Read limits; an empty text ends them, and the other button takes those of the manifest."""
    if given.get("declared") == "yes":
        return None
    try:
        return json.loads(given.get("limits", "") or "[]") or []
    except (ValueError, RecursionError) as error:
        raise BadService(f"The limits are not valid JSON: {error}") from error
