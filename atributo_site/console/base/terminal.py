"""Write the equivalent of a page as a curl command that needs only a token."""

import json
from shlex import quote
from typing import Any
from urllib.parse import urlencode

REASON = {"reason": "…"}


def curl(path: str, method: str = "", body: Any = None) -> str:
    """Return the command; the page adds the origin of the site to the path."""
    verb = f"-X {method} " if method else ""
    data = "" if body is None else quote(json.dumps(body, ensure_ascii=False))
    content = data and f"-H 'Content-Type: application/json' -d {data} "
    return f"curl {verb}-H 'Authorization: Bearer …' {content}{quote(path)}"


def same_list(
    path: str, filters: dict[str, str], command: str = "", flags: dict[str, str] | None = None
) -> dict[str, str]:
    """Return a list with the filters of its page as a curl and, where it exists, a command."""
    given = urlencode({name: text for name, text in filters.items() if text})
    words = [f"{flag} {quote(text)}" for flag, text in (flags or {}).items() if text]
    return {
        "command": " ".join([command, *words]) if command else "",
        "rest": curl(f"{path}{given and f'?{given}'}"),
    }
