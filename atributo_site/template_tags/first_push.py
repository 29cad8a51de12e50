"""Suggest a first push where nothing was pushed yet, or the service that it needs."""

from django import template

from queues.models import Service

register = template.Library()
MOUNT = "/multiplier"
TO_BEGIN = "First install a service with a script to push:"
TO_TRY = "To try it, install a demo service:"
INSTALL = f"manage.py service install multiplier {MOUNT}"
PUSH = f"manage.py push default {MOUNT} multiply --data '[6, 7]'"


@register.inclusion_tag("console/base/empty.html")
def first_push(title: str, detail: str, art: str = "jobs", options: str = "") -> dict[str, str]:
    """Show an empty state with a command that works as it is."""
    common = {"art": art, "title": title}
    if Service.objects.filter(mount=MOUNT).exists():
        return common | {"detail": detail, "command": f"{PUSH} {options}".strip()}
    has_others = Service.objects.exists()
    return common | {"detail": TO_TRY if has_others else TO_BEGIN, "command": INSTALL}
