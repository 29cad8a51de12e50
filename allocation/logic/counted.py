"""Counts in sentences."""


def counted(count: int, one: str, many: str = "") -> str:
    """«1 job», «2 jobs»; the plural is given where it is more than an s."""
    return f"{count} {one if count == 1 else many or f'{one}s'}"
