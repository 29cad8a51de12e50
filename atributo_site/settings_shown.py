"""The settings as people see them: each with its value and its source, without secrets."""

import os
from typing import Any

from django.conf import settings

from atributo_site.env_file import with_env_file
from atributo_site.environment import BASE_DIR, Environment
from atributo_site.variables import Variable, variables_of

HIDDEN = "•••"


def settings_shown() -> list[dict[str, Any]]:
    """Every setting with its value and where that comes from; secrets stay hidden."""
    from_file = with_env_file({}, BASE_DIR / ".env")
    return [
        {
            "name": variable.name,
            "sentence": variable.sentence,
            "default": variable.default,
            "value": _value(attribute, variable, source := _source(variable, from_file)),
            "source": source,
        }
        for attribute, variable in variables_of(Environment).items()
    ]


def _source(variable: Variable, from_file: dict[str, str]) -> str:
    if os.environ.get(variable.name):
        return "environment"
    return ".env" if from_file.get(variable.name) else "default"


def _value(attribute: str, variable: Variable, source: str) -> str:
    if variable.secret and source != "default":
        return HIDDEN
    value = getattr(settings.ATRIBUTO, attribute)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(value) if isinstance(value, tuple) else str(value)
