"""What documents look like in JSON, asked for and answered."""

from typing import Any

from rest_framework import serializers

from allocation.transactions import listing
from atributo_site.rest.strict_serializer import StrictSerializer

MOST = listing.MOST
TEXT, NUMBER, FLAG = (
    serializers.CharField,
    serializers.IntegerField,
    serializers.BooleanField,
)


class PathSerializer(serializers.Serializer):
    collection = serializers.CharField()
    key = serializers.CharField()
    ref = serializers.CharField()


class WrittenSerializer(PathSerializer):
    """Where a value was stored, and the ref of this version."""


class ResultSerializer(serializers.Serializer):
    path = PathSerializer()
    value = serializers.JSONField()


class PageSerializer(serializers.Serializer):
    results = ResultSerializer(many=True)
    next = serializers.JSONField(help_text="Pass it as `after` or `offset`; null at the end.")


class VersionSerializer(serializers.Serializer):
    path = serializers.DictField()
    at = serializers.DateTimeField()
    transaction = serializers.IntegerField(allow_null=True)
    position = serializers.IntegerField()
    value = serializers.JSONField(required=False)


class HistorySerializer(serializers.Serializer):
    results = VersionSerializer(many=True)
    next = serializers.IntegerField(allow_null=True, help_text="Pass it as `before`.")


class ListQuery(StrictSerializer):
    limit = NUMBER(min_value=1, max_value=MOST, default=50)
    after = TEXT(max_length=255, required=False, help_text="The key to go on after.")
    query = TEXT(max_length=4000, required=False, help_text="For example age:>30 AND city:Paris.")
    sort = TEXT(max_length=400, default="", help_text="For example age:desc.")
    offset = NUMBER(min_value=0, max_value=listing.MOST_SKIPPED, default=0)

    def validate(self, asked: Any) -> Any:
        """A list goes on after a key, a search at an offset; the other one would be ignored."""
        is_search = "query" in asked or bool(asked["sort"])
        if is_search and "after" in asked:
            raise serializers.ValidationError({"after": ["A search goes on at an offset."]})
        if asked["offset"] and not is_search:
            raise serializers.ValidationError({"offset": ["A list goes on after a key."]})
        return asked


class HistoryQuery(StrictSerializer):
    limit = NUMBER(min_value=1, max_value=MOST, default=50)
    before = NUMBER(min_value=1, required=False)
    values = FLAG(default=True)


class WriteQuery(StrictSerializer):
    raise_if_locked = FLAG(default=True, help_text="False ignores locks of transactions.")


class OneQuery(WriteQuery):
    ref = TEXT(max_length=32, required=False, help_text="A version of its history.")
