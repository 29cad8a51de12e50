"""Text of others on a terminal: a script's line may not move the cursor or turn the words round."""

import re

COMMANDS_TERMINAL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def harmless(text: str) -> str:
    """As it is, with what a terminal would obey written out as JSON does: \\u001b for Escape."""
    return COMMANDS_TERMINAL.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
