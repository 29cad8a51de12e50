"""A week of counters behind the demo: days, nights and a bad hour give the charts a shape."""

import math
from datetime import datetime, timedelta

from atributo_site.core.models.clock import database_now
from queues.models import MinuteCount
from queues.queries.counters import remember

WEEK = timedelta(days=7)
COARSE, FINE = timedelta(minutes=15), timedelta(minutes=1)
LATELY = timedelta(hours=2, minutes=15)
BAD_FROM, BAD_UNTIL = timedelta(hours=5), timedelta(hours=4)
# Queue → jobs per minute at noon, share that fails, milliseconds one runs.
QUEUES = {"mail": (12, 0.01, 8), "numbers": (80, 0.002, 8), "imports": (8, 0.06, 700)}
BOUNDS_MS = (10, 100, 1_000, 10_000, 60_000)


def is_empty() -> bool:
    return not MinuteCount.objects.exists()


def seed() -> None:
    now = database_now().replace(second=0, microsecond=0)
    for queue, (rate, share, run_ms) in QUEUES.items():
        remember(
            queue, {at: minute(now - at, at, rate, share, run_ms) for at in minutes_until(now)}
        )


def minutes_until(now: datetime) -> list[datetime]:
    """Return every minute of about two hours, and every quarter of an hour before them.

    The current minute is left to the jobs of the demo itself.
    """
    quarter = now.replace(minute=now.minute // 15 * 15) - timedelta(hours=2)
    fine = [quarter + FINE * number for number in range((now - quarter) // FINE)]
    return fine + [quarter - COARSE * number for number in range(1, (WEEK // COARSE) - 8)]


def minute(ago: timedelta, at: datetime, rate: float, share: float, run_ms: int) -> dict[str, int]:
    """Count more by day than by night; in the bad hour half fails and everything waits."""
    day = 0.6 + 0.4 * math.sin((at.hour + at.minute / 60 - 7) / 24 * 2 * math.pi)
    wave = 1 + 0.25 * math.sin(at.minute / 60 * 6 * math.pi + rate)
    is_bad = BAD_UNTIL < ago < BAD_FROM
    started = max(1, round(rate * day * wave * (15 if ago > LATELY else 1)))
    failed = round(started * (0.5 if is_bad else share) + 0.3 * wave * share * 10)
    failed = min(started, failed)
    return {
        "pushed": started,
        "started": started,
        "complete": started - failed,
        "failed": failed,
        "retried": failed,  # no job of the past failed for good: the demo has no rows of them
        **spread("wait", started, 4_000 if is_bad else 100),
        **spread("run", started, run_ms),
    }


def spread(kind: str, count: int, typical_ms: int) -> dict[str, int]:
    """Spread the times: most are typical, a few are one bucket longer."""
    place = next(number for number, bound in enumerate(BOUNDS_MS) if typical_ms <= bound)
    longer = count // 12
    return {f"{kind}_{place}": count - longer, f"{kind}_{place + 1}": longer}
