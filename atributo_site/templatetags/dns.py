"""Small pieces of the screens about pools and DNS."""

from django import template

from atributo_site.console.durations import duration
from atributo_site.console.subjects import subject_url

register = template.Library()


@register.simple_tag
def instance_url(instance_id: str) -> str:
    """The instance's screen; its events while there is none."""
    return subject_url(f"instance:{instance_id}")


@register.filter
def milliseconds(value: float) -> str:
    return duration(value / 1000)


@register.filter
def percent(share: float) -> str:
    return f"{share:.0%}"
