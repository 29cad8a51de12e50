"""Priorities of the Tasks API, from -100 to 100, and ours, from -2 to 2."""

HIGHEST = 100
STEP = 50


def to_ours(priority: int) -> int:
    """Return -2 below -50, -1 up to -1, 0, 1 from 1 on, 2 above 50."""
    distance = 2 if abs(priority) > STEP else 1 if priority else 0
    return distance if priority > 0 else -distance


def from_ours(priority: int) -> int:
    """Return the priority in the middle of the range that becomes this one of ours."""
    return {-2: -75, -1: -25, 0: 0, 1: 25, 2: 75}[priority]
