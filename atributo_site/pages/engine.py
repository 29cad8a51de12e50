"""Render our templates by an engine of our own, wherever the site is installed.

A project has a base.html of its own, and context processors that are not ours. Neither sees the
other's.
"""

from functools import cache
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.template.backends.django import DjangoTemplates

from atributo_site.config.places import TEMPLATE_TAGS, TEMPLATES

CONTEXT = [
    "django.template.context_processors.request",
    "django.contrib.auth.context_processors.auth",
    "django.contrib.messages.context_processors.messages",
    "atributo_site.console.base.navigation.frame",
]


@cache
def engine() -> DjangoTemplates:
    options = {"context_processors": CONTEXT, "libraries": TEMPLATE_TAGS}
    return DjangoTemplates(
        {"NAME": "atributo", "DIRS": [TEMPLATES], "APP_DIRS": False, "OPTIONS": options}
    )


def as_text(name: str, context: dict[str, Any], request: HttpRequest | None = None) -> str:
    return engine().get_template(name).render(context, request)


def page(request: HttpRequest, name: str, context: dict[str, Any], status: int) -> HttpResponse:
    return HttpResponse(as_text(name, context, request), status=status)
