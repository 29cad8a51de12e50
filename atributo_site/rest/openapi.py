"""Serve the OpenAPI document and its page, and describe what all operations share."""

from typing import Any

from django.conf import settings
from drf_spectacular.renderers import OpenApiJsonRenderer2
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.renderers import TemplateHTMLRenderer

from atributo_site.config.openapi_document import DOCUMENT
from atributo_site.pages.engine import engine
from atributo_site.pages.mount import prefix
from atributo_site.rest.endpoint import Endpoint
from atributo_site.rest.operation import extend_schema

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
    """Describe our own addresses alone, from the prefix on that they are included at."""

    actions = {"GET": "schema.view"}
    renderer_classes = [OpenApiJsonRenderer2]

    @extend_schema(exclude=True)
    def get(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        if settings.ATRIBUTO.is_hosted:
            self.urlconf = ("atributo_site.urls",)  # type: ignore[assignment]
        return super().get(request, *args, **kwargs)

    @property
    def custom_settings(self) -> dict[str, Any] | None:  # type: ignore[override]
        top = prefix()
        servers = [] if top == "/" else [{"url": top.rstrip("/")}]
        return {**DOCUMENT, "SERVERS": servers} if settings.ATRIBUTO.is_hosted else None


class OwnPage(TemplateHTMLRenderer):
    def resolve_template(self, template_names: Any) -> Any:
        return engine().get_template(template_names[0])


class Docs(Endpoint, SpectacularSwaggerSplitView):
    """Swagger UI from our own static files, its script at ?script."""

    actions = {"GET": "schema.view"}
    has_page = True
    renderer_classes = [OwnPage]
    url_name = "atributo:api-schema"
    template_name = "rest/docs.html"
    template_name_js = "rest/docs.js"

    @extend_schema(exclude=True)
    def get(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        return super().get(request, *args, **kwargs)


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
