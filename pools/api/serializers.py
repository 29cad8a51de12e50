"""What the REST endpoints of this room take and give."""

from typing import Any

from rest_framework import serializers

from atributo_site.rest.serializers import StrictSerializer
from pools.configuration import SETTINGS
from pools.lookup_tool import DEFAULT_TIMEOUT_MS, LONGEST_MS
from pools.models import Backend, BackendChange, Pool
from pools.models.fields import MOST_NAMESERVERS

NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"


class LookUpStepSerializer(serializers.Serializer):
    server = serializers.CharField()
    name = serializers.CharField()
    type = serializers.CharField()
    attempt = serializers.IntegerField()
    took_ms = serializers.FloatField()
    result = serializers.CharField()
    ttl_seconds = serializers.IntegerField(allow_null=True)
    ago_ms = serializers.FloatField()


class Servers(serializers.ListField):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(child=serializers.CharField(max_length=100), **kwargs)


class PoolSerializer(serializers.ModelSerializer):
    nameservers = Servers()
    recovery = serializers.DictField()
    steps = LookUpStepSerializer(many=True)
    shown_state = serializers.CharField()

    class Meta:
        model = Pool
        fields = [
            "name",
            *SETTINGS,
            "epoch",
            "created_at",
            "asked_at",
            "state",
            "shown_state",
            "state_since",
            "stale_since",
            "last_error",
            "looked_up_at",
            "next_at",
            "next_srv_at",
            "next_v6_at",
            "next_v4_at",
            "waiting",
            "waiting_since",
            "steps",
        ]


class PoolSettings(StrictSerializer):
    """How a name is watched; the library checks what the fields alone cannot tell."""

    domain = serializers.CharField(max_length=253, required=False)
    service = serializers.CharField(max_length=100, required=False)
    default_port = serializers.IntegerField(min_value=1, max_value=65535, required=False)
    nameservers = Servers(required=False, max_length=MOST_NAMESERVERS)
    recovery = serializers.DictField(required=False)
    ttl_floor_ms = serializers.IntegerField(min_value=1000, max_value=86_400_000, required=False)
    ttl_ceiling_ms = serializers.IntegerField(min_value=1000, max_value=86_400_000, required=False)
    removal_share = serializers.FloatField(min_value=0, max_value=1, required=False)
    grace_seconds = serializers.IntegerField(min_value=0, max_value=31_622_400, required=False)
    is_watched = serializers.BooleanField(required=False)


class NewPool(PoolSettings):
    name = serializers.RegexField(NAME, max_length=100)
    domain = serializers.CharField(max_length=253)


class BackendSerializer(serializers.ModelSerializer):
    last_seen_at = serializers.DateTimeField(source="seen_at")
    connections = serializers.DictField(child=serializers.IntegerField())
    why_dead = serializers.ListField(child=serializers.CharField())

    class Meta:
        model = Backend
        fields = [
            "key",
            "name",
            "address",
            "port",
            "priority",
            "weight",
            "state",
            "state_since",
            "administrative",
            "administrative_by",
            "reason",
            "instance_id",
            "first_seen_at",
            "last_seen_at",
            "connections",
            "why_dead",
        ]


class Administration(StrictSerializer):
    administrative = serializers.ChoiceField(Backend.Administrative.choices)
    reason = serializers.CharField(max_length=255, required=False, allow_blank=True, default="")


class BackendChangeSerializer(serializers.ModelSerializer):
    class Meta:
        model = BackendChange
        fields = ["id", "at", "kind", "key", "backend", "detail", "actor"]


class LookUp(StrictSerializer):
    host = serializers.CharField(max_length=300, help_text="HOST, HOST:PORT or an address.")
    service = serializers.CharField(max_length=100, required=False, default="_http._tcp")
    port = serializers.IntegerField(min_value=1, max_value=65535, required=False)
    nameservers = Servers(required=False, max_length=MOST_NAMESERVERS)
    timeout_ms = serializers.IntegerField(
        min_value=10, max_value=LONGEST_MS, required=False, default=DEFAULT_TIMEOUT_MS
    )


class FoundBackendSerializer(serializers.Serializer):
    key = serializers.CharField()
    name = serializers.CharField()
    address = serializers.CharField()
    port = serializers.IntegerField()
    priority = serializers.IntegerField()
    weight = serializers.IntegerField()


class LookedUpSerializer(serializers.Serializer):
    host = serializers.CharField()
    state = serializers.CharField()
    error = serializers.CharField(allow_blank=True)
    took_ms = serializers.FloatField()
    backends = FoundBackendSerializer(many=True)
    steps = LookUpStepSerializer(many=True)
