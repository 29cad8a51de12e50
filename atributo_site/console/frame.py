"""What every page shows around its content."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest


def frame(request: HttpRequest) -> dict[str, Any]:
    return {"badge": settings.ATRIBUTO.badge or settings.ATRIBUTO.mode}
