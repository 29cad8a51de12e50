"""/locks and /curators: who holds a key, and who repairs."""

from typing import Any

import django_filters
from django.db.models import Count, QuerySet
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from allocation.transactions.api.transaction_serializers import RequiredReasonSerializer
from allocation.transactions.curator import operator_actions
from allocation.transactions.curator.status import curators, hand_over
from allocation.transactions.models import Lock
from atributo_site.core.models.clock import database_now
from atributo_site.rest.endpoint import Endpoint, ListEndpoint
from atributo_site.rest.operation import extend_schema
from atributo_site.rest.serializers import checked


class LockSerializer(serializers.ModelSerializer):
    collection = serializers.CharField(source="document.collection")
    key = serializers.CharField(source="document.key")
    holder = serializers.IntegerField(source="transaction_id")
    owner = serializers.CharField(source="transaction.owner")
    expires_at = serializers.DateTimeField(source="transaction.expires_at")
    waiters = serializers.IntegerField(source="waiting")

    class Meta:
        model = Lock
        fields = [
            "id",
            "collection",
            "key",
            "mode",
            "token",
            "holder",
            "owner",
            "acquired_at",
            "expires_at",
            "waiters",
        ]


class LockFilters(django_filters.FilterSet):
    collection = django_filters.CharFilter(field_name="document__collection", max_length=255)
    key = django_filters.CharFilter(field_name="document__key", max_length=255)
    transaction = django_filters.NumberFilter(field_name="transaction_id", max_value=2**62)

    class Meta:
        model = Lock
        fields: list[str] = []


class Locks(ListEndpoint):
    """Locks that are held, oldest first, with their holders and how many wait."""

    actions = {"GET": "lock.view"}
    queryset: QuerySet = Lock.objects.with_names().annotate(waiting=Count("document__waits"))
    serializer_class = LockSerializer
    filterset_class = LockFilters
    ordering = "pk"


class Release(Endpoint):
    """Free a key by force; a running holder is rolled back."""

    actions = {"POST": "lock.release"}

    @extend_schema(request=RequiredReasonSerializer, responses={204: None})
    def post(self, request: Request, pk: int) -> Response:
        wanted = checked(RequiredReasonSerializer, request.data)
        operator_actions.force_release(pk, wanted["reason"])
        return Response(status=204)


class CuratorSerializer(serializers.Serializer):
    name = serializers.CharField()
    active = serializers.BooleanField()
    epoch = serializers.IntegerField(allow_null=True)
    since = serializers.DateTimeField()
    heartbeat_age_seconds = serializers.FloatField(allow_null=True)
    repaired = serializers.DictField(child=serializers.IntegerField())


class Curators(Endpoint):
    """Every curator that runs, the active one marked."""

    actions = {"GET": "curator.view"}

    @extend_schema(responses=CuratorSerializer(many=True))
    def get(self, request: Request) -> Response:
        return Response(_curators())


class HandOver(Endpoint):
    """Take the role from the active curator; a standby gets it."""

    actions = {"POST": "curator.hand_over"}

    @extend_schema(request=RequiredReasonSerializer, responses=CuratorSerializer(many=True))
    def post(self, request: Request) -> Response:
        wanted = checked(RequiredReasonSerializer, request.data)
        hand_over(wanted["reason"])
        return Response(_curators())


def _curators() -> Any:
    return CuratorSerializer(curators(database_now()), many=True).data
