"""Tags and filters of the pools and DNS screens."""

from collections import Counter
from collections.abc import Sequence

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from atributo_site.console.base.subjects import subject_url
from atributo_site.core.text import pluralize
from atributo_site.web.format import duration
from pools.logic.dns.meanings import meaning
from pools.timeline import DAY, History

SHORTEST = 0.0001  # of a day, nine seconds: between the first answer and its row
register = template.Library()
register.filter("meaning", meaning)


@register.simple_tag
def instance_url(instance_id: str) -> str:
    """Return the instance's screen."""
    return subject_url(f"instance:{instance_id}")


@register.filter
def milliseconds(value: float) -> str:
    return duration(value / 1000)


@register.filter
def percent(share: float) -> str:
    return f"{share:.0%}"


@register.simple_tag
def slots(states: Sequence[str]) -> SafeString:
    """Draw a square for each connection, with the same in words for screen readers."""
    words = ", ".join(f"{count} {word}" for word, count in Counter(states).items())
    squares = format_html_join(
        "", '<span class="is-{}" title="{}"></span>', ((w, w) for w in states)
    )
    return format_html('<span class="slots" role="img" aria-label="{}">{}</span>', words, squares)


@register.filter
def gone_sentence(history: History) -> str:
    """Say how much of the last day it was not in DNS; nothing if it always was."""
    share = history.share_gone
    gone = f"gone for {duration(share * DAY.total_seconds())} of the last day"
    return (gone if share < 0.005 else f"{gone}, {share:.0%}") if share > SHORTEST else ""


@register.simple_tag
def strip(history: History) -> SafeString:
    """Draw the last day of a backend from left to right."""
    parts = format_html_join(
        "",
        '<rect class="is-{}" x="{}" width="{}" height="10"><title>{}</title></rect>',
        (
            (part.state, f"{part.begin * 100:.2f}", f"{part.share * 100:.2f}", part.state)
            for part in history.stretches
        ),
    )
    return format_html(
        '<svg class="strip" viewBox="0 0 100 10" preserveAspectRatio="none" role="img"'
        ' aria-label="the last day: {}">{}</svg>',
        pluralize(history.changes, "change"),
        parts,
    )
