"""Serve the OpenAPI document and its page, and describe what all operations share."""

from hashlib import md5
from typing import Any, ClassVar

from django.conf import settings
from django.http import HttpResponse
from django.urls import get_urlconf
from django.utils.module_loading import import_string
from drf_spectacular.renderers import OpenApiJsonRenderer2
from drf_spectacular.utils import extend_schema
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
    """The document with the scripts that are installed now, made once for each set of them."""

    actions = {"GET": "schema.view"}
    renderer_classes = [OpenApiJsonRenderer2]
    made: ClassVar[tuple[str | None, bytes, str]] = (None, b"", "")

    @extend_schema(exclude=True)  # as the library does with its own
    def get(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        if request.query_params:  # asks for another form of it
            return super().get(request, *args, **kwargs)
        scripts = import_string(settings.OPENAPI_REVISION)()
        revision = f"{get_urlconf() or settings.ROOT_URLCONF} {scripts}"
        if Schema.made[0] != revision:
            answer = super().get(request, *args, **kwargs)
            text = OpenApiJsonRenderer2().render(answer.data, renderer_context={})
            tag = md5(text, usedforsecurity=False).hexdigest()
            Schema.made = (revision, text, f'"{tag}"')
        _, text, tag = Schema.made
        headers = {"ETag": tag}
        if request.headers.get("If-None-Match") == tag:
            return HttpResponse(status=304, headers=headers)
        media_type = OpenApiJsonRenderer2.media_type
        return HttpResponse(text, content_type=media_type, headers=headers)


class Docs(Endpoint, SpectacularSwaggerSplitView):
    """Swagger UI from our own static files, its script at ?script."""

    actions = {"GET": "schema.view"}
    has_page = True
    url_name = "api-schema"
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
