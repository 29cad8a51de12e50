"""How the OpenAPI document is made: by drf-spectacular's settings, or inside a project by ours."""

from typing import Any

REVISION = "queues.api.openapi.revision"  # what changes the document of one version
DOCUMENT: dict[str, Any] = {
    "TITLE": "Atributo",
    "DESCRIPTION": "A control plane for sticky work.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",  # whose schemas are JSON Schema, as those of scripts are
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "PATH_CONVERTER_OVERRIDES": {"id": str},
    "POSTPROCESSING_HOOKS": [
        "queues.api.openapi.add_scripts",
        # Enums stay where they are used: as components they would need names of their own.
        "atributo_site.rest.openapi.describe_problems",
    ],
}
