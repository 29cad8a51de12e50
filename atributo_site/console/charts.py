"""The charts of the overview: points for the browser, bars and a table where no script runs."""

from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from django.core.cache import cache
from django.urls import reverse

from atributo_site.console.durations import duration
from queues.history import COUNTS, KINDS, RANGES, SHARES, Range, history, whole

WORDS = {"1h": "Last hour", "24h": "Last 24 hours", "7d": "Last 7 days"}
KEPT_SECONDS = {"24h": 15, "7d": 60}  # a longer slice changes more slowly
LINES_IN_TABLE = 12


def charts(wanted: str, now: datetime) -> dict[str, Any]:
    """Everything the template and the script need for one range."""
    chosen = RANGES.get(wanted, RANGES["1h"])
    points = _remembered(chosen, now)
    totals = {name: sum(point[name] for point in points) for name in COUNTS}
    return {
        "range": chosen.name,
        "words": WORDS[chosen.name],
        "choices": [(name, WORDS[name], name == chosen.name) for name in RANGES],
        "totals": totals,
        "times": {kind: _said_all(whole(points, kind)) for kind in KINDS},
        "ran": totals["complete"] + totals["failed"] > 0,
        "bars": [_bar(point, chosen) for point in points],
        "lines": [_line(point) for point in points[::-1] if _happened(point)][:LINES_IN_TABLE],
        "slice": duration(chosen.slice_seconds),
        "points": _columns(points, chosen),
    }


def _remembered(chosen: Range, now: datetime) -> list[dict[str, Any]]:
    if chosen.name not in KEPT_SECONDS:
        return history(now, chosen)
    key = f"console:history:{chosen.name}"
    points = cache.get(key)
    if points is None:
        points = history(now, chosen)
        cache.set(key, points, KEPT_SECONDS[chosen.name])
    return points


def _columns(points: list[dict[str, Any]], chosen: Range) -> dict[str, Any]:
    """Column by column, as the chart wants it; seconds since 1970 and milliseconds."""
    return {
        "slice": chosen.slice_seconds,
        "list": reverse("jobs"),
        "at": [int(point["at"].timestamp()) for point in points],
        "complete": [point["complete"] for point in points],
        "failed": [point["failed"] for point in points],
        **{
            f"{kind}_{name}": [point[kind][name] for point in points]
            for kind in KINDS
            for name in SHARES
        },
    }


def _bar(point: dict[str, Any], chosen: Range) -> dict[str, Any]:
    return {
        "complete": point["complete"],
        "failed": point["failed"],
        "at": point["at"],
        "url": _jobs_url(point, chosen),
    }


def _jobs_url(point: dict[str, Any], chosen: Range) -> str:
    """The jobs that ended in the slice; the failed ones where there are any."""
    until = point["at"] + timedelta(seconds=chosen.slice_seconds)
    state = "failed" if point["failed"] else "complete"
    asked = {"state": state, "since": _typed(point["at"]), "until": _typed(until)}
    return f"{reverse('jobs')}?{urlencode(asked)}"


def _typed(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M")


def _happened(point: dict[str, Any]) -> bool:
    return any(point[name] for name in COUNTS)


def _line(point: dict[str, Any]) -> dict[str, Any]:
    times = {kind: list(_said_all(point[kind]).values()) for kind in KINDS}
    return {**point, **times}


def _said_all(times: dict[str, float | None]) -> dict[str, str]:
    return {name: _said(milliseconds) for name, milliseconds in times.items()}


def _said(milliseconds: float | None) -> str:
    return duration(None if milliseconds is None else milliseconds / 1000)
