"""Whole numbers as addresses and hidden fields carry them."""

LARGEST = 2**63 - 1  # of any key; ids of a large cluster have as many digits
MOST_DIGITS = len(str(LARGEST))  # Python itself refuses to read thousands of them


def whole(text: str) -> int | None:
    """None for whatever else somebody typed."""
    is_number = text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS
    return int(text) if is_number and int(text) <= LARGEST else None
