"""The next command where nothing was pushed yet: a push, or first a service to push to."""

from django import template

from queues.models import Service

register = template.Library()
MOUNT = "/multiplier"
INSTALL = f"manage.py service install multiplier {MOUNT}"
PUSH = f"manage.py push default {MOUNT} multiply --data '[6, 7]'"


@register.inclusion_tag("console/base/empty.html")
def first_push(title: str, detail: str, art: str = "jobs", options: str = "") -> dict[str, str]:
    """An empty state whose command works here and now."""
    shown = {"art": art, "title": title}
    if Service.objects.filter(mount=MOUNT).exists():
        return shown | {"detail": detail, "command": f"{PUSH} {options}".strip()}
    return shown | {"detail": "First install a service with a script to push:", "command": INSTALL}
