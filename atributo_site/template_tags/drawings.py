"""Draw gauges, bars and progress on the server, and format numbers."""

from collections import Counter
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from atributo_site.core.text import pluralize
from atributo_site.web.format import roughly, tone
from atributo_site.web.pagination import format_count
from queues.logic.search_query import written

register = template.Library()
register.filter("format_count", format_count)

AROUND = 100.5  # length of a circle of radius 16
HEIGHT = 28


@register.filter
def thousands(count: int) -> str:
    """Return a number with separators between thousands."""
    return f"{count:,}"


@register.filter
def unlocalized(value: object) -> str:
    """Return an id as it is, never with separators."""
    return str(value)


@register.simple_tag
def gauge(value: int, total: int, shade: str = "") -> SafeString:
    """Draw a ring that is filled as far as `value` of `total`."""
    share = min(1.0, value / total) if total else 0.0
    return format_html(
        '<svg class="ring{}" viewBox="0 0 40 40" role="img" aria-label="{} of {}">'
        '<circle class="ring-back" cx="20" cy="20" r="16"/>'
        '<circle class="ring-value" cx="20" cy="20" r="16" stroke-dasharray="{} 200"'
        ' transform="rotate(-90 20 20)"/>'
        '<text x="20" y="24" text-anchor="middle">{}</text></svg>',
        f" is-{shade}" if shade else "",
        value,
        total,
        f"{share * AROUND:.1f}",
        value,
    )


@register.simple_tag
def minute_bars(minutes: Sequence[tuple[int, int]], label: str = "") -> SafeString:
    """Draw a bar per minute, failures in their own colour on top."""
    most = max((complete + failed for complete, failed in minutes), default=0)
    scale = HEIGHT / most if most else 0
    complete_sum = sum(complete for complete, _ in minutes)
    failed_sum = sum(failed for _, failed in minutes)
    return format_html(
        '<svg class="minutes" viewBox="0 0 {} {}" preserveAspectRatio="none" role="img"'
        ' aria-label="{}: {} complete, {} failed, minute by minute">{}{}</svg>',
        max(1, len(minutes)) * 4,
        HEIGHT,
        label or "The last hour",
        complete_sum,
        failed_sum,
        _base(len(minutes)),
        format_html_join("", "{}", ((_bar(n, pair, scale),) for n, pair in enumerate(minutes))),
    )


@register.simple_tag
def slice_bars(bars: Sequence[dict[str, Any]]) -> SafeString:
    """Draw wide bars, each a link to the jobs that ended in its time if a list has them."""
    most = max((bar["complete"] + bar["failed"] for bar in bars), default=0)
    scale = HEIGHT / most if most else 0
    drawn = ((n, bar) for n, bar in enumerate(bars) if bar["complete"] + bar["failed"])
    return format_html(
        '<svg class="minutes wide" viewBox="0 0 {} {}" preserveAspectRatio="none">{}{}</svg>',
        max(1, len(bars)) * 4,
        HEIGHT,
        _base(len(bars)),
        format_html_join("", "{}", ((_opening(number, bar, scale),) for number, bar in drawn)),
    )


def _opening(number: int, bar: dict[str, Any], scale: float) -> SafeString:
    """Draw a bar with its counts as its name, as a link if it has an address."""
    complete, failed = bar["complete"], bar["failed"]
    drawn = _bar(number, (complete, failed), scale)
    counts = f"{pluralize(complete, 'run')} complete, {pluralize(failed, 'attempt')} failed"
    name = f"{bar['at']:%Y-%m-%d %H:%M} UTC: {counts}"
    if not bar["url"]:
        return format_html('<g role="img" aria-label="{}">{}</g>', name, drawn)
    return format_html('<a href="{}" aria-label="{}">{}</a>', bar["url"], name, drawn)


def _base(count: int) -> SafeString:
    return format_html(
        '<rect class="minutes-base" x="0" y="{}" width="{}" height="1"/>', HEIGHT - 1, count * 4
    )


def _bar(number: int, pair: tuple[int, int], scale: float) -> SafeString:
    """Draw a bar from numbers, which need no escaping; a page has hundreds."""
    complete, failed = (max(2.0, each * scale) if each else 0.0 for each in pair)
    bars = [("minutes-ok", HEIGHT - complete, complete)] if complete else []
    bars += [("minutes-bad", max(0.0, HEIGHT - complete - failed), failed)] if failed else []
    return mark_safe(
        "".join(
            f'<rect class="{name}" x="{number * 4:d}" y="{top:.1f}" width="3" height="{high:.1f}"/>'
            for name, top, high in bars
        )
    )  # nosec B308 B703 # numbers only


@register.simple_tag
def outcome_strip(runs: Sequence[tuple[str, Any]]) -> SafeString:
    """Draw a mark per run, oldest first; a run that did not complete is lower and coloured."""
    if not runs:
        return format_html('<span class="muted">{}</span>', "none yet")
    counts = Counter(outcome for outcome, _ in runs)
    return format_html(
        '<svg class="strip" viewBox="0 0 {} 16" role="img" aria-label="{}">{}</svg>',
        len(runs) * 6,
        ", ".join(f"{count} {outcome}" for outcome, count in counts.items()),
        format_html_join(
            "",
            '<rect class="is-{}" x="{}" y="{}" width="4" height="{}" rx="1"/>',
            (
                (tone(outcome), number * 6, *((2, 14) if outcome == "complete" else (8, 8)))
                for number, (outcome, _) in enumerate(runs)
            ),
        ),
    )


@register.simple_tag
def progress_bar(percent: float | None, label: str = "Progress") -> SafeString:
    share = max(0.0, min(100.0, percent or 0.0))
    return format_html(
        '<svg class="bar" role="progressbar" aria-valuemin="0" aria-valuemax="100"'
        ' aria-valuenow="{}" aria-label="{}"><rect width="{}%" rx="4"/></svg>',
        f"{share:.0f}",
        label,
        f"{share:.1f}",
    )


@register.filter
def bound(milliseconds: int | None) -> str:
    """Return an upper bound of the counters in words."""
    if milliseconds is None:
        return "over 1m"
    return f"≤ {roughly(milliseconds / 1000)}" if milliseconds >= 1000 else f"≤ {milliseconds}ms"


@register.filter
def query_of(name: str, qualifier: str = "queue") -> str:
    """Return the search for the jobs of a queue or script, encoded for an address."""
    return quote(written(qualifier, name), safe="")
