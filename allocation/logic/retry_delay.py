"""How long to wait before something that failed is tried again."""

FIRST_SECONDS = 1.0
LONGEST_SECONDS = 300.0


def retry_seconds(attempts: int) -> float:
    """Double for every failed attempt, up to five minutes."""
    return min(FIRST_SECONDS * 2.0 ** min(max(attempts - 1, 0), 40), LONGEST_SECONDS)
