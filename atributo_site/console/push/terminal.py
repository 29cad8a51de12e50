"""Write a push with its options as a command and as a curl."""

import shlex
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from urllib.parse import quote

from atributo_site.console.base.terminal import curl
from atributo_site.core.text import written

SPANS = ("delay", "repeat_delay", "timeout", "back_off")


def push_command(
    queue: str, script: Mapping[str, str], data: str, options: Mapping[str, Any]
) -> str:
    words = ["manage.py", "push", queue, script["mount"], script["name"], "--data", data]
    for name, value in options.items():
        flag = f"--{name.replace('_', '-')}"
        words += [flag] if value is True else _argument(flag, _word(name, value))
    return shlex.join(words)


def push_curl(queue: str, script: Mapping[str, str], data: Any, options: Mapping[str, Any]) -> str:
    body = {"script": dict(script), "data": data}
    body |= {name: _member(value) for name, value in options.items()}
    return curl(f"/api/v1/queues/{quote(queue, safe='')}/jobs", "POST", body)


def _argument(name: str, word: str) -> list[str]:
    """Join a value to its option if it begins like an option itself."""
    is_odd = word.startswith("-") and not word[1:].isdigit()
    return [f"{name}={word}"] if is_odd else [name, word]


def _word(name: str, value: Any) -> str:
    if isinstance(value, Mapping):
        is_script = "mount" in value
        return f"{value['mount']}/{value['name']}" if is_script else _strategy(value)
    if name in SPANS:
        return written(value)
    return str(_member(value))


def _strategy(value: Mapping[str, Any]) -> str:
    return f"{value['strategy']}:{written(value['ms'])}"


def _member(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value
