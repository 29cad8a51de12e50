"""Tags and filters of every screen: icons, states, times, subjects, JSON."""

import json
import re
from datetime import datetime
from typing import Any

from django import template
from django.contrib.admin.utils import quote
from django.core.serializers.json import DjangoJSONEncoder
from django.templatetags.static import static
from django.urls import NoReverseMatch, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import capfirst

from atributo_site.console.base.subjects import minute_url, subject_url
from atributo_site.core.redaction import masked
from atributo_site.web.format import ago, duration, one_line, roughly, tone

register = template.Library()
register.filter("tone", tone)
register.filter("duration", duration)
register.filter("roughly", roughly)
register.filter("minute_url", minute_url)


@register.filter
def first_name(row: str) -> str:
    """Return the name by which the search finds a row that breaks a rule."""
    return re.split(r":?\s", row.removeprefix("transaction "), maxsplit=1)[0]


@register.simple_tag
def icon(name: str) -> SafeString:
    """Draw a symbol of the sprite; screen readers skip it."""
    return format_html(
        '<svg class="icon" aria-hidden="true" focusable="false"><use href="{}#{}"/></svg>',
        static("atributo/icons.svg"),
        name,
    )


@register.simple_tag
def state(word: str, text: str = "") -> SafeString:
    """Show a state as icon and word."""
    shade = tone(word)
    return format_html(
        '<span class="state {}">{}{}</span>', f"is-{shade}", icon(shade), text or word
    )


@register.simple_tag
def moment(at: datetime | None, now: datetime) -> SafeString:
    """Show a relative time, with the absolute one on hover."""
    if at is None:
        return format_html('<span class="muted">{}</span>', "never")
    return format_html(
        '<time datetime="{}" title="{}" data-relative>{}</time>',
        at.isoformat(),
        at.strftime("%Y-%m-%d %H:%M:%S UTC"),
        ago((now - at).total_seconds()),
    )


@register.simple_tag
def age(seconds: float, after: str = "") -> SafeString:
    """Show how old something is; the browser counts on each second."""
    said = f"{duration(seconds)} {after}".strip()
    since = f"{seconds:.1f}"
    return format_html('<span data-age="{}" data-after="{}">{}</span>', since, after, said)


@register.simple_tag
def subject(name: str) -> SafeString:
    """Link to the page about an event's subject."""
    noun, colon, rest = name.partition(":")
    return format_html(
        '<a class="subject" href="{}"><span class="noun">{}</span>{}</a>',
        subject_url(name),
        noun if colon else "",
        rest if colon else name,
    )


@register.simple_tag
def raw_row(table: str, key: Any) -> SafeString:
    """Link to the object in its raw list, which links back; a project may have no such list."""
    try:
        address = reverse(f"admin:{table}_change", args=[quote(key)])
    except NoReverseMatch:
        return SafeString()
    return format_html('<a href="{}">Raw row</a>', address)


@register.filter
def pretty(value: Any) -> str:
    """Return indented JSON without secrets."""
    return json.dumps(masked(value), cls=DjangoJSONEncoder, ensure_ascii=False, indent=2)


@register.filter
def brief(facts: dict[str, Any]) -> str:
    """Return the facts of an event on one line, the reason first, without empty ones."""
    given = [(key, value) for key, value in masked(facts).items() if value != ""]
    given.sort(key=lambda fact: fact[0] != "reason")
    return " · ".join(f"{key} {one_line(value)}" for key, value in given)[:160]


@register.filter
def running(processes: list[dict[str, Any]]) -> int:
    return sum(process["state"] == "running" for process in processes)


@register.filter
def expected(processes: list[dict[str, Any]]) -> int:
    """Count the processes that should run: all that did not stop cleanly."""
    return sum(process["state"] != "stopped" for process in processes)


@register.simple_tag
def labelled(cell: str, headers: list[dict[str, Any]], index: int) -> SafeString:
    """Add its column's name to a cell of Django's list, for phones, which show rows as cards."""
    opening, rest = cell[:3], cell[3:]
    label = format_html(' data-label="{}"', capfirst(headers[index]["text"]))
    # Django has escaped the cell, and the label is escaped above.
    return SafeString(opening + label + rest)  # nosec B703 # both parts are escaped
