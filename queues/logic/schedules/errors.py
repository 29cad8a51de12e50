"""What is wrong with a rule, as a sentence for whoever wrote it."""

LONGEST_SHOWN = 40


class BadRule(ValueError):
    """A rule that cannot be read or never fires; the text says what is wrong and what may be."""


def shown(value: object) -> str:
    """Return a short form of what was given, for a message."""
    text = str(value)
    return repr(text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}...")
