"""How transactions look in JSON, in requests and in answers."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from allocation.transactions.api.documents import masked_for
from allocation.transactions.models import JournalEntry, Lock
from allocation.transactions.models import Transaction as Row
from atributo_site.rest.serializers import StrictSerializer

LONGEST_WAIT_SECONDS = 10


class TransactionSerializer(serializers.ModelSerializer):
    class Meta:
        model = Row
        fields = [
            "id",
            "status",
            "epoch",
            "owner",
            "label",
            "channel",
            "cause",
            "reason",
            "error",
            "attempts",
            "started_at",
            "expires_at",
            "limit_at",
            "finished_at",
        ]


class JournalSerializer(serializers.ModelSerializer):
    collection = serializers.CharField(source="document.collection")
    key = serializers.CharField(source="document.key")
    before_value = serializers.JSONField(allow_null=True)

    class Meta:
        model = JournalEntry
        fields = [
            "id",
            "action",
            "collection",
            "key",
            "before_present",
            "before_ref",
            "before_value",
            "after_ref",
            "undo",
            "at",
        ]


class HeldSerializer(serializers.ModelSerializer):
    collection = serializers.CharField(source="document.collection")
    key = serializers.CharField(source="document.key")

    class Meta:
        model = Lock
        fields = ["id", "collection", "key", "mode", "token", "acquired_at"]


class DetailSerializer(TransactionSerializer):
    journal = serializers.SerializerMethodField()
    locks = serializers.SerializerMethodField()

    class Meta(TransactionSerializer.Meta):
        fields = [*TransactionSerializer.Meta.fields, "journal", "locks"]

    @extend_schema_field(JournalSerializer(many=True))
    def get_journal(self, row: Row) -> Any:
        entries = JournalEntry.objects.filter(transaction=row).with_documents()
        return masked_for(
            self.context["request"], JournalSerializer(entries[:1000], many=True).data
        )

    @extend_schema_field(HeldSerializer(many=True))
    def get_locks(self, row: Row) -> Any:
        locks = Lock.objects.filter(transaction=row).select_related("document")
        return HeldSerializer(locks[:1000], many=True).data


class BeginSerializer(StrictSerializer):
    label = serializers.CharField(  # type: ignore[assignment]
        max_length=255, required=False, default="", help_text="What you call it; shown beside you."
    )
    owner = serializers.CharField(
        max_length=255,
        required=False,
        default="",
        help_text="An older name of the label. The owner is the user who begins it.",
    )


class OperationSerializer(StrictSerializer):
    op = serializers.ChoiceField(["get", "put", "post", "delete", "lock", "list", "search"])
    collection = serializers.CharField(max_length=255, trim_whitespace=False)
    key = serializers.CharField(max_length=255, required=False, trim_whitespace=False)
    value = serializers.JSONField(required=False, allow_null=True)
    ref = serializers.CharField(
        max_length=32, required=False, help_text="It must match; of a get, the version to read."
    )
    create_only = serializers.BooleanField(default=False)
    shared = serializers.BooleanField(default=False)
    wait = serializers.FloatField(min_value=0, max_value=LONGEST_WAIT_SECONDS, default=0)
    query = serializers.CharField(max_length=4000, required=False, help_text="Of a search.")
    sort = serializers.CharField(max_length=4000, required=False, help_text="Of a search.")
    offset = serializers.IntegerField(min_value=0, required=False, help_text="Of a search.")
    after = serializers.CharField(
        max_length=255, required=False, trim_whitespace=False, help_text="Of a list: a key."
    )
    limit = serializers.IntegerField(min_value=1, max_value=1000, required=False)


class DoneSerializer(serializers.Serializer):
    status_code = serializers.IntegerField()
    collection = serializers.CharField()
    key = serializers.CharField()
    ref = serializers.CharField()
    token = serializers.IntegerField(allow_null=True)
    value = serializers.JSONField(allow_null=True)


class ReasonSerializer(StrictSerializer):
    reason = serializers.CharField(
        max_length=2000,
        required=False,
        default="",
        help_text="Given by an administrator, it ends it whoever owns it.",
    )


class RequiredReasonSerializer(StrictSerializer):
    reason = serializers.CharField(max_length=2000)
