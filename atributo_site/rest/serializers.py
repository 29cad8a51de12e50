"""Refuse members that a serializer does not know, and ids that are not JSON text."""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request


class StrictSerializer(serializers.Serializer):
    def to_internal_value(self, data: Any) -> Any:
        unknown = set(data) - set(self.fields) if isinstance(data, dict) else set()
        if unknown:
            known = f"there are {', '.join(self.fields)}" if self.fields else "there are none"
            message = f"Unknown; {known}."
            raise serializers.ValidationError({name: [message] for name in sorted(unknown)})
        return super().to_internal_value(data)


def checked(form: type[serializers.Serializer], given: Any) -> dict[str, Any]:
    """Return the values of a body or a query; answer a mistake with 400 and the member's name."""
    wanted = form(data=given)
    wanted.is_valid(raise_exception=True)
    return dict(wanted.validated_data)


def refuse_members(request: Request) -> None:
    """Refuse a body that says something where none is expected."""
    checked(StrictSerializer, request.data)


class TextField(serializers.CharField):
    """Accept text only: a browser may have rounded a number before it sent it."""

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            raise serializers.ValidationError("Must be text.")
        return super().to_internal_value(data)
