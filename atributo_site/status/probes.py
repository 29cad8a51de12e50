"""Answer /healthz and /readyz, and the snapshot over REST."""

from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe
from drf_spectacular.utils import OpenApiTypes
from rest_framework.request import Request
from rest_framework.response import Response

from atributo_site.core.availability import trouble
from atributo_site.core.availability.outages import outages
from atributo_site.core.models.clock import database_now
from atributo_site.rest.endpoint import Endpoint
from atributo_site.rest.operation import extend_schema
from atributo_site.status.redis import redis_health
from atributo_site.status.snapshot import snapshot
from atributo_site.supervisor.startup import pending_migrations

READ_ONLY = "read-only"
READY = {"ok", READ_ONLY, "disk full"}  # pages can be shown


@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """Say that the process answers; the one port does it without asking Django."""
    return alive()


def alive() -> HttpResponse:
    return HttpResponse("ok\n", content_type="text/plain")


@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """Say ready if the database has all migrations and can be read; without Redis, degraded."""
    database = _database_state()
    parts = {"database": database, "redis": redis_health().state}
    return JsonResponse(parts, status=200 if database in READY else 503)


def _database_state() -> str:
    try:
        is_read_only = _is_read_only()
        if not _migrated():
            return "migrations pending"
    except DatabaseError:
        return "down"
    if is_read_only:
        return READ_ONLY
    return "disk full" if outages.state_of("database") == trouble.DISK_FULL else "ok"


def _is_read_only() -> bool:
    """Ask PostgreSQL; a file is read-only if the heartbeat of this process found it so."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT current_setting('transaction_read_only') = 'on'")
            return cursor.fetchone()[0]
        cursor.execute("SELECT 1")
    return outages.state_of("database") == trouble.READ_ONLY


_migrated_before = False


def _migrated() -> bool:
    """Remember True for this process: new migrations come with new code."""
    global _migrated_before
    _migrated_before = _migrated_before or not pending_migrations()
    return _migrated_before


class Snapshot(Endpoint):
    """The state of everything, as the dashboard shows it."""

    actions = {"GET": "snapshot.view"}

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request) -> Response:
        return Response(snapshot(database_now()))
