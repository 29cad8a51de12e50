"""Members of documents that look like secrets: shown to those who may write them."""

from typing import Any

from rest_framework.request import Request

from allocation.logic.secrets import masked
from atributo_site.rest.permission import allowed


def reads_secrets(request: Request) -> bool:
    return allowed(request, "document.secrets")


def shown(request: Request, value: Any) -> Any:
    """The value as it is, or masked for whoever may only look."""
    return value if reads_secrets(request) else masked(value)
