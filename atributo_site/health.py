"""Probes: does the process live, may it take traffic?"""

from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from atributo_site.first_start import pending_migrations
from atributo_site.redis_health import redis_health


@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """The process answers; nothing else is asked. The one port does not even ask Django."""
    return alive()


def alive() -> HttpResponse:
    return HttpResponse("ok\n", content_type="text/plain")


@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """Ready means the database is there with all migrations; without Redis it is degraded."""
    database = _database_state()
    parts = {"database": database, "redis": redis_health().state}
    return JsonResponse(parts, status=200 if database == "ok" else 503)


def _database_state() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        return "ok" if _migrated() else "migrations pending"
    except DatabaseError:
        return "down"


_migrated_before = False


def _migrated() -> bool:
    """Once true it stays true for this process: new migrations come with new code."""
    global _migrated_before
    _migrated_before = _migrated_before or not pending_migrations()
    return _migrated_before
