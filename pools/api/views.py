"""REST views: watched names, their backends and changes, the look-up tool, live pools as kang."""

from typing import Any

import django_filters
from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiTypes
from rest_framework.request import Request
from rest_framework.response import Response

from atributo_site.core.models.clock import database_now
from atributo_site.rest.endpoint import Endpoint, ListEndpoint
from atributo_site.rest.operation import extend_schema
from atributo_site.rest.preconditions import etag, required_epoch
from atributo_site.rest.serializers import checked
from pools import configuration
from pools.api.serializers import (
    Administration,
    BackendChangeSerializer,
    BackendSerializer,
    LookedUpSerializer,
    LookUp,
    NewPool,
    PoolSerializer,
    PoolSettings,
)
from pools.configuration import administer, pool_named
from pools.lookup_tool import look_up
from pools.models import Backend, BackendChange, Pool
from pools.reporting.live_view import kang_snapshot, reports, with_live


class PoolFilters(django_filters.FilterSet):
    class Meta:
        model = Pool
        fields = ["state", "is_watched"]


class BackendFilters(django_filters.FilterSet):
    class Meta:
        model = Backend
        fields = ["state", "administrative"]


class ChangeFilters(django_filters.FilterSet):
    class Meta:
        model = BackendChange
        fields = ["kind"]


class Pools(ListEndpoint):
    """Names that are watched in DNS."""

    actions = {"GET": "pool.view", "POST": "pool.change"}
    queryset = Pool.objects.all()
    serializer_class = PoolSerializer
    filterset_class = PoolFilters
    ordering = "name"

    @extend_schema(request=NewPool, responses={201: PoolSerializer})
    def post(self, request: Request) -> Response:
        wanted = checked(NewPool, request.data)
        return _pool_response(configuration.watch(**wanted), status=201)


class OnePool(Endpoint):
    """One watched name; If-Match lets a change happen only to the version that was read."""

    actions = {"GET": "pool.view", "PATCH": "pool.change", "DELETE": "pool.change"}

    @extend_schema(operation_id="pools_retrieve", responses=PoolSerializer)
    def get(self, request: Request, name: str) -> Response:
        return _pool_response(pool_named(name))

    @extend_schema(request=PoolSettings, responses=PoolSerializer)
    def patch(self, request: Request, name: str) -> Response:
        epoch, wanted = _required_epoch(request, name), checked(PoolSettings, request.data)
        return _pool_response(configuration.change(name, epoch, **wanted))

    @extend_schema(responses={204: None})
    def delete(self, request: Request, name: str) -> Response:
        configuration.forget(name, _required_epoch(request, name))
        return Response(status=204)


class Backends(ListEndpoint):
    """The backends of a name, with the connections that live pools have to them."""

    actions = {"GET": "pool.view"}
    queryset = Backend.objects.none()
    serializer_class = BackendSerializer
    filterset_class = BackendFilters
    ordering = "id"

    def get_queryset(self) -> QuerySet[Backend]:
        return Backend.objects.filter(pool=pool_named(self.kwargs["name"])).select_related("pool")

    def paginate_queryset(self, queryset: Any) -> Any:
        return with_live(super().paginate_queryset(queryset) or [])


class OneBackend(Endpoint):
    """What a person decides about a backend: ready, drain or maintenance."""

    actions = {"PATCH": "pool.operate"}

    @extend_schema(request=Administration, responses=BackendSerializer)
    def patch(self, request: Request, name: str, key: str) -> Response:
        backend = administer(name, key, **checked(Administration, request.data))
        return Response(BackendSerializer(with_live([backend])[0]).data)


class Changes(ListEndpoint):
    """What happened to a name and its backends, newest first."""

    actions = {"GET": "pool.view"}
    queryset = BackendChange.objects.none()
    serializer_class = BackendChangeSerializer
    filterset_class = ChangeFilters
    ordering = "-id"

    def get_queryset(self) -> QuerySet[BackendChange]:
        return BackendChange.objects.filter(pool=pool_named(self.kwargs["name"]))


class ResolveNow(Endpoint):
    """Let the watcher look again at once, no more often than the TTL floor of the name."""

    actions = {"POST": "pool.operate"}

    @extend_schema(request=None, responses={202: PoolSerializer})
    def post(self, request: Request, name: str) -> Response:
        return _pool_response(configuration.ask_now(name), status=202)


class PauseName(Endpoint):
    """Look it up no more until it is resumed; its backends and instances stay as they are."""

    actions = {"POST": "pool.operate"}

    @extend_schema(operation_id="pools_pause", request=None, responses=PoolSerializer)
    def post(self, request: Request, name: str) -> Response:
        epoch = _required_epoch(request, name)
        return _pool_response(configuration.change(name, epoch, is_watched=False))


class ResumeName(Endpoint):
    """Watch a paused name again, from now on."""

    actions = {"POST": "pool.operate"}

    @extend_schema(operation_id="pools_resume", request=None, responses=PoolSerializer)
    def post(self, request: Request, name: str) -> Response:
        epoch = _required_epoch(request, name)
        return _pool_response(configuration.change(name, epoch, is_watched=True))


class Resolve(Endpoint):
    """Look a name up now and see every step: server, time taken, result, TTL, attempt."""

    actions = {"POST": "dns.look_up"}

    @extend_schema(request=LookUp, responses=LookedUpSerializer)
    def post(self, request: Request) -> Response:
        return Response(LookedUpSerializer(look_up(**checked(LookUp, request.data))).data)


class Kang(Endpoint):
    """The live pools and resolvers of all processes in the shape that kang understands."""

    actions = {"GET": "pool.view"}

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request) -> Response:
        return Response(kang_snapshot(reports(), database_now()))


def _required_epoch(request: Request, name: str) -> int | None:
    rows = Pool.objects.filter(name=name).values_list("epoch", flat=True)
    return required_epoch(request, rows.first)


def _pool_response(pool: Pool, status: int = 200) -> Response:
    headers = {"ETag": etag(pool.epoch)}
    return Response(PoolSerializer(pool).data, status=status, headers=headers)
