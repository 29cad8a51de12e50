"""What does the same from a terminal, as a curl that needs nothing but a token."""

import json
from shlex import quote
from typing import Any
from urllib.parse import urlencode

REASON = {"reason": "…"}


def curl(path: str, method: str = "", body: Any = None) -> str:
    """The page puts the origin of the site in front of the path."""
    sent = f"-X {method} " if method else ""
    typed = "" if body is None else _typed(body)
    return f"curl {sent}-H 'Authorization: Bearer …' {typed}{quote(path)}"


def same_list(
    path: str, asked: dict[str, str], command: str = "", flags: dict[str, str] | None = None
) -> dict[str, str]:
    """A list with the filter of its page: the curl and, where one can say as much, the command."""
    given = urlencode({name: text for name, text in asked.items() if text})
    words = [f"{flag} {quote(text)}" for flag, text in (flags or {}).items() if text]
    return {
        "command": " ".join([command, *words]) if command else "",
        "rest": curl(f"{path}{given and f'?{given}'}"),
    }


def _typed(body: Any) -> str:
    text = json.dumps(body, ensure_ascii=False)
    return f"-H 'Content-Type: application/json' -d {quote(text)} "
