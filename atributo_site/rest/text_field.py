"""A field for ids and keys: JSON text and nothing that merely looks like it."""

from typing import Any

from rest_framework import serializers


class TextField(serializers.CharField):
    """A number would become text, and a browser may have rounded it before."""

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            raise serializers.ValidationError("Must be text.")
        return super().to_internal_value(data)
