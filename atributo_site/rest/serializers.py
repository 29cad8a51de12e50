"""A serializer that refuses members it does not know: a misspelt option must not be ignored.

A field for ids and keys: JSON text and nothing that merely looks like it.
"""

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
    """What a body or a query says; a mistake is 400 with the name of the member."""
    wanted = form(data=given)
    wanted.is_valid(raise_exception=True)
    return dict(wanted.validated_data)


def refuse_members(request: Request) -> None:
    """Where a body says nothing, one that says something is a mistake."""
    checked(StrictSerializer, request.data)


class TextField(serializers.CharField):
    """A number would become text, and a browser may have rounded it before."""

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            raise serializers.ValidationError("Must be text.")
        return super().to_internal_value(data)
