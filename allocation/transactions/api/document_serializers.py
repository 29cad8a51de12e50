"""How documents look in JSON, and what If-Match and If-None-Match demand of them."""

from typing import Any

from rest_framework import serializers
from rest_framework.exceptions import ParseError
from rest_framework.request import Request

from allocation.transactions.documents import listing
from allocation.transactions.errors import PreconditionFailed
from allocation.transactions.models import Document
from allocation.transactions.models.document import REF_LENGTH
from allocation.transactions.store import sql
from allocation.transactions.store.keys import Demand, Key
from atributo_site.rest.preconditions import (
    known_tags,
    must_be_new,
    named_or_first,
    strong_tags,
)
from atributo_site.rest.serializers import StrictSerializer

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
    sort = TEXT(max_length=400, required=False, help_text="For example age:desc.")
    offset = NUMBER(min_value=0, max_value=listing.MOST_SKIPPED, default=0)

    def validate(self, attrs: Any) -> Any:
        """Refuse an offset of a list and a key of a search, which would be ignored."""
        is_search = "query" in attrs or "sort" in attrs
        if is_search and "after" in attrs:
            raise serializers.ValidationError({"after": ["A search goes on at an offset."]})
        if attrs["offset"] and not is_search:
            raise serializers.ValidationError({"offset": ["A list goes on after a key."]})
        return attrs


class HistoryQuery(StrictSerializer):
    limit = NUMBER(min_value=1, max_value=MOST, default=50)
    before = NUMBER(min_value=1, required=False)
    values = FLAG(default=True)


class WriteQuery(StrictSerializer):
    raise_if_locked = FLAG(default=True, help_text="False ignores locks of transactions.")


class OneQuery(WriteQuery):
    ref = TEXT(max_length=32, required=False, help_text="A version of its history.")


def etag(ref: str) -> str:
    return f'"{ref}"'


def demand(
    request: Request, place: Key, *, otherwise: str = sql.ANYTHING, creates: bool = False
) -> Demand:
    """Return what the headers demand of the key before it is written."""
    if must_be_new(request):
        return _new(request, creates)
    if (known := known_tags(request)) and _ref_of(place) in known:
        raise PreconditionFailed("the document is still as If-None-Match names it")
    refs = strong_tags(request)
    if refs is not None:
        return Demand(sql.SAME_REF, _demanded(place, refs))
    return Demand(sql.PRESENT, "*") if "If-Match" in request.headers else Demand(otherwise)


def is_known(request: Request, ref: str) -> bool:
    """Return whether the caller has this version already."""
    return must_be_new(request) or ref in known_tags(request)


def _new(request: Request, creates: bool) -> Demand:
    if not creates:
        raise ParseError("If-None-Match: * is for PUT only: what does not exist cannot be read.")
    if "If-Match" in request.headers:
        raise PreconditionFailed("what If-Match names cannot be new")
    return Demand(sql.ABSENT)


def _demanded(place: Key, tags: list[str]) -> str:
    """Return the one ref that must match; of several it is that of the document."""
    refs = [tag for tag in tags if 0 < len(tag) <= REF_LENGTH]
    if not refs:
        raise PreconditionFailed("no version has such an ETag; a weak one matches nothing")
    return refs[0] if len(refs) == 1 else named_or_first(refs, _ref_of(place))


def _ref_of(place: Key) -> str | None:
    return Document.objects.at(*place).present().values_list("ref", flat=True).first()
