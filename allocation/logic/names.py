"""What a collection or a key may be called."""

MAX_LENGTH = 255


class BadName(ValueError):
    """A name that cannot be used; the text says why."""


def checked_name(name: object, what: str) -> str:
    """The name itself, when it can be stored and shown."""
    if not isinstance(name, str):
        raise BadName(f"the {what} must be a text, not {type(name).__name__}")
    if not name:
        raise BadName(f"the {what} must not be empty")
    if len(name) > MAX_LENGTH:
        raise BadName(f"the {what} must have at most {MAX_LENGTH} characters")
    if any(ord(character) < 32 or 0xD800 <= ord(character) < 0xE000 for character in name):
        raise BadName(f"the {what} must not contain control characters")
    return name
