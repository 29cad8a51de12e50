"""Describe one method of an endpoint in the OpenAPI document."""

from typing import Any

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
