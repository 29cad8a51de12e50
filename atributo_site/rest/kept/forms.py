"""Keep one serializer of each class per thread: its fields are copied once, not at each request.

It is given values and returns values, and keeps nothing of them. Its class has no default that a
caller could change, such as a list: every caller would get the same one.

How to read each member of a row is found out once, too, where REST framework finds it out for each
row: that takes a third of the time. What is unusual in a row is left to the serializer.
"""

import threading
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from operator import attrgetter
from types import FunctionType
from typing import Any

from django.conf import settings
from django.core.exceptions import ObjectDoesNotExist
from django.db.models import Model
from django.utils import timezone
from rest_framework import ISO_8601, serializers
from rest_framework.fields import SkipField
from rest_framework.settings import api_settings

UNUSUAL = (AttributeError, ObjectDoesNotExist, SkipField)
AS_THEY_ARE = {serializers.CharField: str, serializers.IntegerField: int}
PLAIN = {
    *AS_THEY_ARE,
    serializers.BooleanField,
    serializers.ChoiceField,
    serializers.DateTimeField,
    serializers.DictField,
    serializers.FloatField,
    serializers.JSONField,
}
Member = tuple[str, Callable[[Any], Any], Callable[[Any], Any]]
_of_this_thread = threading.local()


def validated(kind: type[serializers.Serializer], given: Any, *, is_query: bool) -> dict[str, Any]:
    """Return the values of a form; raise ValidationError for those that are refused."""
    form = _kept(("form", kind, is_query), lambda: kind(context={"is_query": is_query}))
    return dict(form.run_validation(given))


def represented(
    kind: type[serializers.BaseSerializer], rows: Iterable[Any], context: dict[str, Any]
) -> Any:
    """Return the rows of a list as JSON values."""
    page, moments = _kept(("page", kind), lambda: _page(kind))
    zone = timezone.get_current_timezone() if settings.USE_TZ else None
    in_utc = str(zone) == "UTC"
    for field in moments:
        field.timezone = zone  # looked up once for all rows
        field.is_usual = in_utc and _format_of(field) == ISO_8601
    page._context = context
    try:
        return page.to_representation(rows)
    finally:
        page._context = {}


def _page(kind: type[serializers.BaseSerializer]) -> tuple[Any, list[Any]]:
    page: Any = kind(many=True)
    read = _quick_reader(page.child)
    if read is not None:
        page.child.to_representation = read
    return page, _moments_of(page.child)


def _kept(key: tuple[Any, ...], make: Callable[[], Any]) -> Any:
    forms = _of_this_thread.__dict__.setdefault("forms", {})
    if key not in forms:
        forms[key] = make()
    return forms[key]


def _quick_reader(form: Any) -> Callable[[Any], Any] | None:
    """Return a function that represents a row; None if the serializer has a way of its own."""
    kind = type(form)
    fields = list(getattr(form, "_readable_fields", ()))
    if getattr(kind, "to_representation", None) is not serializers.Serializer.to_representation:
        return None
    if any(isinstance(each, serializers.RelatedField) for each in fields):
        return None
    model = getattr(getattr(kind, "Meta", None), "model", None)
    members = [_member(each, model) for each in fields]

    def read(row: Any) -> Any:
        if isinstance(row, Model):
            try:
                return {
                    name: None if (value := get(row)) is None else convert(value)
                    for name, get, convert in members
                }
            except UNUSUAL:  # such as a member that is left out if it is missing
                pass
        return kind.to_representation(form, row)

    return read


def _format_of(field: Any) -> Any:
    return getattr(field, "format", api_settings.DATETIME_FORMAT)


def _quick_moment(field: Any) -> Callable[[Any], Any]:
    """Write moments of the database as REST framework does, where it need not look at a zone."""

    def convert(value: Any) -> Any:
        if field.is_usual and type(value) is datetime and value.tzinfo is UTC:
            return value.isoformat()[:-6] + "Z"
        return field.to_representation(value)

    return convert


def _moments_of(form: Any) -> list[Any]:
    """Return the fields that show a moment in the zone of the request."""
    fields = getattr(form, "_readable_fields", ())
    return [each for each in fields if isinstance(each, serializers.DateTimeField)]


def _member(field: Any, model: Any) -> Member:
    convert = AS_THEY_ARE.get(type(field), field.to_representation)
    if type(field) is serializers.DateTimeField:
        convert = _quick_moment(field)
    is_method = isinstance(getattr(model, field.source, None), FunctionType)
    if type(field) in PLAIN and field.source != "*" and not is_method:
        return field.field_name, attrgetter(field.source), convert
    return field.field_name, field.get_attribute, field.to_representation
