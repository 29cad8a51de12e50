"""Read the members of bodies and the parameters of queries, and refuse what they do not say.

REST framework's own fields read "1_0" and "١٢" as numbers, true as 1.0 and 7 as a text.
"""

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers
from rest_framework.request import Request

from atributo_site.core.text import number, whole_number
from atributo_site.rest.kept import forms

TEXTS = (serializers.CharField, serializers.ChoiceField)
MOMENTS = (serializers.DateTimeField, serializers.DateField, serializers.TimeField)
FLAGS = ("true", "false", "1", "0")


class StrictSerializer(serializers.Serializer):
    """Refuse members that are unknown, and those that are not of their JSON type."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, Mapping) and (wrong := self._wrong(data)):
            raise serializers.ValidationError(wrong)
        return super().to_internal_value(data)

    def _wrong(self, data: Mapping[str, Any]) -> dict[str, Any]:
        wrong = self._unknown(data) if data.keys() - self.fields.keys() else {}
        refusal = _query_refusal if self.context.get("is_query") else _refusal
        for name, value in data.items():
            field = self.fields.get(name)
            why = refusal(field, value) if field is not None and value is not None else None
            wrong |= {name: [why]} if why else {}
        return wrong

    def _unknown(self, data: Mapping[str, Any]) -> dict[str, Any]:
        known = f"there are {', '.join(self.fields)}" if self.fields else "there are none"
        return {name: [f"Unknown; {known}."] for name in sorted(set(data) - set(self.fields))}


def checked(form: type[serializers.Serializer], given: Any) -> dict[str, Any]:
    """Return the values of a body; answer a mistake with 400 and the member's name."""
    return _validated(form, given, is_query=False)


def checked_query(form: type[serializers.Serializer], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a query, which are all texts."""
    return _validated(form, given, is_query=True)


def refuse_members(request: Request) -> None:
    """Refuse a body that says something where none is expected."""
    checked(StrictSerializer, request.data)


def _validated(form: type[serializers.Serializer], given: Any, *, is_query: bool) -> dict[str, Any]:
    try:
        return forms.validated(form, given, is_query=is_query)
    except serializers.ValidationError:
        again = form(data=given, context={"is_query": is_query})
        again.is_valid(raise_exception=True)  # it words the refusal
        return dict(again.validated_data)


def _refusal(field: Any, value: Any) -> str | None:
    """Return why a JSON value cannot be read as this field; None if it can."""
    if isinstance(field, serializers.BooleanField):
        return None if isinstance(value, bool) else "Must be true or false."
    if isinstance(field, serializers.IntegerField):
        return None if _is_whole(value) else "Must be a whole number."
    if isinstance(field, serializers.FloatField):
        return None if _is_number(value) else "Must be a number."
    if isinstance(field, TEXTS):
        return None if isinstance(value, str) else "Must be text."
    if isinstance(field, MOMENTS):
        is_moment = isinstance(value, str) and value.isascii()
        return None if is_moment else "Must be a moment such as 2030-01-31T12:00:00Z."
    return _refusal_of_each(field, value)


def _refusal_of_each(field: Any, value: Any) -> str | None:
    """Look into a list or an object; what is neither is refused by the field itself."""
    items: list[tuple[Any, Any]] = []
    if isinstance(field, serializers.ListField) and isinstance(value, list):
        items = list(enumerate(value))
    elif isinstance(field, serializers.DictField) and isinstance(value, dict):
        items = list(value.items())
    for name, each in items:
        why = _refusal(field.child, each) if each is not None else None
        if why:
            return f"{name}: {why}"
    return None


def _query_refusal(field: Any, text: str) -> str | None:
    if isinstance(field, serializers.BooleanField):
        return None if text.lower() in FLAGS else "Must be true or false."
    if isinstance(field, serializers.IntegerField):
        return None if whole_number(text) is not None else "Must be a whole number."
    if isinstance(field, serializers.FloatField):
        return None if number(text) is not None else "Must be a number."
    return _refusal(field, text)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_whole(value: Any) -> bool:
    """Return whether it is 7 or 7.0, which JSON does not tell apart."""
    return _is_number(value) and value == int(value)
