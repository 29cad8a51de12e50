"""The snapshot over REST, and /metrics for Prometheus."""

from typing import Any

from django.conf import settings
from django.http import HttpResponse
from drf_spectacular.utils import OpenApiTypes, extend_schema
from prometheus_client import CONTENT_TYPE_LATEST
from rest_framework.request import Request
from rest_framework.response import Response

from allocation.models.clock import database_now
from atributo_site.metrics import exposition
from atributo_site.rest.endpoint import Endpoint
from atributo_site.snapshot import snapshot


class Snapshot(Endpoint):
    """The state of everything, as the dashboard shows it."""

    actions = {"GET": "snapshot.view"}

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request) -> Response:
        return Response(snapshot(database_now()))


class Metrics(Endpoint):
    """For Prometheus; needs a token unless ATRIBUTO_METRICS_OPEN says otherwise."""

    actions = {"GET": "metrics.view"}
    schema = None

    def get_permissions(self) -> Any:
        return [] if settings.ATRIBUTO.metrics_open else super().get_permissions()

    def get(self, request: Request) -> HttpResponse:
        return HttpResponse(exposition(snapshot(database_now())), content_type=CONTENT_TYPE_LATEST)
