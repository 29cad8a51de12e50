"""Fields for spans and moments as people type them, and as they are written there again."""

from datetime import UTC, datetime
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from allocation.logic.spans import milliseconds, written
from atributo_site.console.moments import absolute

BAD_SPAN = "«{}» is no span like 500ms, 90s, 5m or 1h30m; a bare number is milliseconds."
BAD_MOMENT = "«{}» is no moment like 2030-01-31T12:00, in UTC."
LONGEST = 40  # of what is said again


class SpanField(forms.IntegerField):
    """Milliseconds, typed as 500ms, 5m or 1h30m; a bare number is milliseconds."""

    def to_python(self, value: Any) -> Any:
        span_ms = milliseconds(value) if isinstance(value, str) else None
        if span_ms is not None:
            return span_ms
        try:
            return super().to_python(value)
        except ValidationError as error:
            raise ValidationError(BAD_SPAN.format(str(value)[:LONGEST])) from error

    def prepare_value(self, value: Any) -> Any:
        return written(value) if isinstance(value, int) else value


class MomentField(forms.Field):
    """A moment in UTC unless it says otherwise."""

    def to_python(self, value: Any) -> Any:
        text = "" if value is None else str(value).strip()
        if not text:
            return None
        try:
            return absolute(text)
        except (ValueError, OverflowError) as error:
            raise ValidationError(BAD_MOMENT.format(text[:LONGEST])) from error

    def prepare_value(self, value: Any) -> Any:
        if not isinstance(value, datetime):
            return value
        return value.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="seconds")
