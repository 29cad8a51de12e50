"""How instances look in JSON, in requests and in answers."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from allocation.instances.holds import Left, kinds_held
from allocation.logic.instance_settings import (
    MOST_CAPACITY,
    MOST_MOVES_PER_MINUTE,
    MOST_SECONDS,
    MOST_WEIGHT,
    WEIGHT_HELP,
)
from allocation.models import Allocation, Instance
from atributo_site.rest.serializers import StrictSerializer

DAY_SECONDS = 86_400


class LeftSerializer(serializers.Serializer):
    keys = serializers.IntegerField(help_text="Keys that are allocated to it.")
    running_jobs = serializers.IntegerField()
    open_claims = serializers.IntegerField(help_text="Connections of pools that are in use.")


class DrainSerializer(serializers.Serializer):
    reason = serializers.CharField()
    started_at = serializers.DateTimeField()
    deadline_at = serializers.DateTimeField(allow_null=True)
    moves_per_minute = serializers.IntegerField(allow_null=True)
    jobs_at_start = serializers.IntegerField()
    moved = serializers.IntegerField()
    stuck = serializers.BooleanField(help_text="Its keys have nowhere to go.")
    done_at = serializers.DateTimeField(allow_null=True)
    left = LeftSerializer()


class InstancePage(serializers.ListSerializer):
    child: Any

    def to_representation(self, data: Any) -> Any:
        """Read once for all draining instances what still holds them."""
        rows = list(data)
        self.child.held = kinds_held(row.pk for row in rows if getattr(row, "drain", None))
        return super().to_representation(rows)


class InstanceSerializer(serializers.ModelSerializer):
    held: dict[str, dict[str, int]] | None = None
    state = serializers.ChoiceField(["available", "draining", "drained", "dead", "unavailable"])
    load = serializers.IntegerField(help_text="How many keys are allocated to it.")
    labels = serializers.DictField(child=serializers.CharField())
    drain = serializers.SerializerMethodField()

    class Meta:
        model = Instance
        list_serializer_class = InstancePage
        fields = ["id", "available", "state", "load", "source", "weight", "capacity", "labels"]
        fields += ["lease_until", "reason", "epoch", "created_at", "changed_at", "drain"]

    @extend_schema_field(DrainSerializer(allow_null=True))
    def get_drain(self, row: Any) -> Any:
        drain: Any = getattr(row, "drain", None)
        if drain is None:
            return None
        held = kinds_held([row.pk]) if self.held is None else self.held
        drain.left = Left(row.load, held.get(row.pk, {}))
        return DrainSerializer(drain).data


class SettingsSerializer(StrictSerializer):
    weight = serializers.IntegerField(
        min_value=1,
        max_value=MOST_WEIGHT,
        required=False,
        help_text=f"{WEIGHT_HELP[0].upper()}{WEIGHT_HELP[1:]}.",
    )
    capacity = serializers.IntegerField(
        min_value=0, max_value=MOST_CAPACITY, required=False, allow_null=True
    )
    labels = serializers.DictField(
        child=serializers.CharField(max_length=255, allow_blank=True), required=False
    )


class AvailableSerializer(SettingsSerializer):
    reason = serializers.CharField(max_length=255, required=False, allow_blank=True)
    lease_seconds = serializers.FloatField(
        min_value=0.1,
        max_value=DAY_SECONDS,
        required=False,
        help_text="Without a heartbeat in this time it becomes unavailable by itself.",
    )


class NewInstanceSerializer(AvailableSerializer):
    id = serializers.CharField(max_length=255, trim_whitespace=False)


class WhySerializer(StrictSerializer):
    reason = serializers.CharField(max_length=255, required=False, allow_blank=True)


class DrainWishSerializer(WhySerializer):
    deadline_seconds = serializers.FloatField(
        min_value=0,
        max_value=MOST_SECONDS,
        required=False,
        allow_null=True,
        help_text="At the deadline, the remaining keys move elsewhere.",
    )
    moves_per_minute = serializers.IntegerField(
        min_value=1,
        max_value=MOST_MOVES_PER_MINUTE,
        required=False,
        allow_null=True,
        help_text="Without it, nothing moves before the deadline.",
    )
    force = serializers.BooleanField(default=False, help_text="Move all remaining keys now.")


class HeartbeatSerializer(StrictSerializer):
    seconds = serializers.FloatField(min_value=0.1, max_value=DAY_SECONDS)


class RemovalSerializer(serializers.Serializer):
    may = serializers.BooleanField()
    available = serializers.BooleanField()
    jobs = serializers.IntegerField()
    holds = serializers.DictField(child=serializers.IntegerField())
    sentence = serializers.CharField()


class JobSerializer(serializers.ModelSerializer):
    class Meta:
        model = Allocation
        fields = ["job_id", "epoch", "allocated_at", "strategy", "actor"]
