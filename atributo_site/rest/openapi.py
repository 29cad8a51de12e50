"""Serve the OpenAPI document and its page, and describe what all operations share."""

from typing import Any

from drf_spectacular.renderers import OpenApiJsonRenderer2
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from atributo_site.rest.endpoint import Endpoint

PROBLEM = {
    "type": "object",
    "description": "What went wrong; programs test `code`, people read `detail`.",
    "required": ["type", "title", "status", "code", "detail"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "code": {"type": "string"},
        "detail": {"type": "string"},
        "errors": {"type": "object", "description": "Member or parameter → what is wrong with it."},
        "request_id": {"type": "string"},
    },
    "additionalProperties": True,
}
METHODS = ("get", "post", "put", "patch", "delete")


class Schema(Endpoint, SpectacularAPIView):
    actions = {"GET": "schema.view"}
    renderer_classes = [OpenApiJsonRenderer2]


class Docs(Endpoint, SpectacularSwaggerSplitView):
    """Swagger UI from our own static files, its script at ?script."""

    actions = {"GET": "schema.view"}
    has_page = True
    url_name = "atributo:api-schema"
    template_name = "rest/docs.html"
    template_name_js = "rest/docs.js"


def describe_problems(result: Any, generator: Any, request: Any, public: bool) -> Any:
    """Add the problem document to every operation's answers."""
    result.setdefault("components", {}).setdefault("schemas", {})["Problem"] = PROBLEM
    content = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    for operation in _operations(result):
        operation["responses"]["default"] = {"description": "A problem", "content": content}
    return result


def _operations(result: Any) -> list[dict[str, Any]]:
    return [
        operations[method]
        for operations in result["paths"].values()
        for method in METHODS
        if method in operations
    ]
