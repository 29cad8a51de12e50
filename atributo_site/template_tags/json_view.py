"""Show JSON that folds without script; numbers stay as exact as stored."""

import json
from typing import Any

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from atributo_site.core.redaction import masked

register = template.Library()

OPEN_LEVELS = 2
MOST_PARTS = 200  # of one object or list; the others are only counted
DEEPEST = 40


@register.simple_tag
def json_tree(value: Any, label: str = "JSON") -> SafeString:
    """Show a value without secrets, its outer levels open."""
    return format_html(
        '<div class="tree" tabindex="0" role="group" aria-label="{}">{}</div>',
        label,
        _node(masked(value), 0),
    )


def _node(value: Any, level: int) -> SafeString:
    if isinstance(value, dict) and value and level < DEEPEST:
        return _folded([(f"{key}: ", each) for key, each in value.items()], "{} key", level)
    if isinstance(value, list) and value and level < DEEPEST:
        return _folded([("", each) for each in value], "[] item", level)
    if isinstance(value, str):
        return format_html('<span class="text">{}</span>', _written(value))
    return format_html('<span class="plain">{}</span>', _written(value))


def _folded(parts: list[tuple[str, Any]], kind: str, level: int) -> SafeString:
    brackets, noun = kind.split()
    rows = format_html_join(
        "",
        '<li><span class="key">{}</span>{}</li>',
        ((key, _node(each, level + 1)) for key, each in parts[:MOST_PARTS]),
    )
    left_out = len(parts) - MOST_PARTS
    return format_html(
        "<details{}><summary>{} {} {}{} {}</summary><ul>{}{}</ul></details>",
        SafeString(" open") if level < OPEN_LEVELS else "",
        brackets[0],
        len(parts),
        noun,
        "s" if len(parts) > 1 else "",
        brackets[1],
        rows,
        format_html("<li>… and {} more</li>", left_out) if left_out > 0 else "",
    )


def _written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
