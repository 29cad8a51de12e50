"""Describe one method of an endpoint in the OpenAPI document."""

from typing import Any

from drf_spectacular import utils as spectacular
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiParameter

IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
    OpenApiParameter.HEADER,
    description="A request sent again with the same key gets the first answer, for 24 hours.",
)


class Operation(AutoSchema):
    def get_override_parameters(self) -> list[Any]:
        remembering = self.method == "POST" and getattr(self.view, "remembers_answers", False)
        return [IDEMPOTENCY_KEY] if remembering else []


def extend_schema(**words: Any) -> Any:
    """Describe a method as drf-spectacular's decorator does, on top of `Operation`.

    By itself it would build on the project's default, which may know nothing of OpenAPI.
    """
    describe = spectacular.extend_schema(**words)

    def decorate(method: Any) -> Any:
        if not isinstance(method, type) and not hasattr(method, "kwargs"):
            method.kwargs = {"schema": Operation}
        return describe(method)

    return decorate
