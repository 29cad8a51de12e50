"""Filters of events: what happened as a sentence, and how bad it is."""

from datetime import timedelta
from typing import Any

from django import template
from django.urls import reverse

from atributo_site.console.events.sentences import sentence
from atributo_site.console.events.severity import severity_of

register = template.Library()
register.filter("severity_of", severity_of)


@register.filter
def moves_url(event: Any) -> str:
    """Return where the keys went that left the instance of the event, up to that moment."""
    name = event.subject.partition(":")[2]
    until = (event.at + timedelta(seconds=1)).isoformat()
    return reverse("atributo:instance-moves", args=[name], query={"until": until})


@register.filter
def told(event: Any) -> str:
    """Say what happened; a row of several events has its sentence already."""
    known = getattr(event, "sentence", "")
    return known or sentence(event.kind, event.subject, event.shown_facts)
