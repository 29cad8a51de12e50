"""What does the same from a terminal, as a curl that needs nothing but a token."""

import json
from shlex import quote
from typing import Any

REASON = {"reason": "…"}


def curl(path: str, method: str = "", body: Any = None) -> str:
    """The page puts the origin of the site in front of the path."""
    sent = f"-X {method} " if method else ""
    typed = "" if body is None else _typed(body)
    return f"curl {sent}-H 'Authorization: Bearer …' {typed}{quote(path)}"


def _typed(body: Any) -> str:
    text = json.dumps(body, ensure_ascii=False)
    return f"-H 'Content-Type: application/json' -d {quote(text)} "
