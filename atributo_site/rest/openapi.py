"""Serve the OpenAPI document and its page, and describe what all operations share."""

from hashlib import md5
from typing import Any, ClassVar

from django.conf import settings
from django.http import HttpResponse
from django.urls import get_urlconf
from django.utils.module_loading import import_string
from drf_spectacular.renderers import OpenApiJsonRenderer2
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.renderers import TemplateHTMLRenderer

from atributo_site.config.openapi_document import DOCUMENT, REVISION
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
    """Describe our own addresses, made once for each set of installed scripts and each prefix."""

    actions = {"GET": "schema.view"}
    renderer_classes = [OpenApiJsonRenderer2]
    made: ClassVar[tuple[Any, bytes, str]] = (None, b"", "")

    @extend_schema(exclude=True)
    def get(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        if settings.ATRIBUTO.is_hosted:
            self.urlconf = ("atributo_site.urls",)  # type: ignore[assignment]
        if request.query_params:  # asks for another form of it
            return super().get(request, *args, **kwargs)
        made_of = (import_string(REVISION)(), get_urlconf() or settings.ROOT_URLCONF, prefix())
        if Schema.made[0] != made_of:
            answer = super().get(request, *args, **kwargs)
            text = OpenApiJsonRenderer2().render(answer.data, renderer_context={})
            tag = md5(text, usedforsecurity=False).hexdigest()
            Schema.made = (made_of, text, f'"{tag}"')
        _, text, tag = Schema.made
        headers = {"ETag": tag}
        if request.headers.get("If-None-Match") == tag:
            return HttpResponse(status=304, headers=headers)
        media_type = OpenApiJsonRenderer2.media_type
        return HttpResponse(text, content_type=media_type, headers=headers)

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
