"""Which texts may name a job or an instance."""

import re

LONGEST = 255
FORBIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def refusal(value: object) -> str | None:
    """Why this value cannot be an id; None when it can."""
    if not isinstance(value, str):
        return f"an id is text, not {type(value).__name__}"
    if not 1 <= len(value) <= LONGEST:
        return f"an id has 1 to {LONGEST} characters, not {len(value)}"
    if FORBIDDEN.search(value):
        return "an id has no control characters"
    return None
