"""A serializer that refuses members it does not know: a misspelt option must not be ignored."""

from typing import Any

from rest_framework import serializers


class StrictSerializer(serializers.Serializer):
    def to_internal_value(self, data: Any) -> Any:
        unknown = set(data) - set(self.fields) if isinstance(data, dict) else set()
        if unknown:
            message = f"Unknown; there are {', '.join(self.fields)}."
            raise serializers.ValidationError({name: [message] for name in sorted(unknown)})
        return super().to_internal_value(data)
