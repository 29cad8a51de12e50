"""Sparklines: the points of an SVG line, one per minute."""

from datetime import datetime, timedelta

WIDTH = 120
HEIGHT = 24


def polyline(values: dict[datetime, int], now: datetime, minutes: int) -> str:
    """`0,24 4,12 …` for the last minutes, oldest first; empty when nothing happened."""
    last = now.replace(second=0, microsecond=0)
    series = [values.get(last - timedelta(minutes=n), 0) for n in range(minutes, -1, -1)]
    most = max(series)
    if not most:
        return ""
    step = WIDTH / minutes
    points = [
        f"{n * step:.1f},{HEIGHT - value / most * HEIGHT:.1f}" for n, value in enumerate(series)
    ]
    return " ".join(points)
