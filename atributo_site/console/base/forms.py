"""Fields and base forms for what people type: spans, moments, periods, JSON, reasons."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar, TypeVar

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.forms.fields import InvalidJSONInput
from django.http import HttpRequest

from atributo_site.core.errors import AtributoError
from atributo_site.core.models.clock import database_now
from atributo_site.core.text import milliseconds, number, whole_number, written
from atributo_site.rest.strict_json import NotStrictJSON, parsed
from queues.logic.schedules.errors import BadRule
from queues.logic.schedules.spoken import moment_from

AnyForm = TypeVar("AnyForm", bound=forms.Form)
AGE = re.compile(r"([0-9]{1,6})\s*(s|m|h|d|w)")
SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
LONGEST_REASON = 2000
BAD_SPAN = "'{}' is not a duration. Write 500ms, 90s, 5m or 1h30m; a plain number is milliseconds."
BAD_SECONDS = "'{}' is not a duration of whole seconds. Write 30s, 5m or 1h30m."
BAD_MOMENT = (
    "'{}' is not a time. Write it like 2030-01-31T12:00 in UTC, tomorrow 14:00 or 5 minutes."
)
PICKED = {"data-moment": "yes"}  # moment.js adds a calendar to such a field
FOREVER = "forever"
LONGEST = 40  # characters of a wrong text that an error repeats


class BadForm(AtributoError):
    """A form was filled in wrongly; the message names the fields."""

    status_code = 400
    code = "bad_form"


def form_errors(form: forms.Form) -> str:
    """Return one sentence with the label of each wrong field; Django prints an HTML list."""
    return " ".join(
        f"{form[name].label}: {error}" if name in form.fields else str(error)
        for name, errors in form.errors.items()
        for error in errors
    )


def checked(form: AnyForm) -> AnyForm:
    """Return the form if it is valid, else raise BadForm."""
    if not form.is_valid():
        raise BadForm(form_errors(form))
    return form


class StrictJSONField(forms.JSONField):
    """JSON as strict as in a REST body; Django's own field crashes on some texts."""

    def to_python(self, value: Any) -> Any:
        if isinstance(value, str) and value not in self.empty_values:
            try:
                return parsed(value.encode())
            except NotStrictJSON as error:
                raise forms.ValidationError(f"This is not valid JSON: {error}.") from error
        return super().to_python(value)

    def bound_data(self, data: Any, initial: Any) -> Any:
        """Show what was typed as it was typed."""
        return initial if self.disabled else InvalidJSONInput(data or "")


class BadMoment(ValueError):
    """A text that names no moment."""


def moment(text: str, now: datetime) -> datetime | None:
    """Read a time or an age such as 90m or 2d; None for an empty text."""
    text = text.strip()
    if not text:
        return None
    age = AGE.fullmatch(text)
    try:
        return now - timedelta(seconds=int(age[1]) * SECONDS[age[2]]) if age else absolute(text)
    except (ValueError, OverflowError) as error:
        raise BadMoment(f"'{text}' is neither a time nor an age such as 90m, 2h or 7d") from error


def absolute(text: str) -> datetime:
    """Read a time, in UTC unless it names a zone; ValueError or OverflowError if it is none."""
    at = datetime.fromisoformat(text)
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)


class PeriodForm(forms.Form):
    """Filter by `period_field` from since to until, and by the other fields under their names.

    Empty fields do not filter.
    """

    period_field: ClassVar[str]

    since = forms.CharField(required=False, max_length=40)
    until = forms.CharField(required=False, max_length=40)

    def __init__(self, *args: Any, now: datetime, **kwargs: Any) -> None:
        self.now = now
        super().__init__(*args, **kwargs)

    def clean_since(self) -> datetime | None:
        return self._moment("since")

    def clean_until(self) -> datetime | None:
        return self._moment("until")

    def filtered(self, rows: QuerySet) -> QuerySet:
        return self.compared(rows, self.cleaned_data)

    def compared(self, rows: QuerySet, wanted: dict[str, Any]) -> QuerySet:
        names = {"since": f"{self.period_field}__gte", "until": f"{self.period_field}__lt"}
        given = {name: value for name, value in wanted.items() if value}
        return rows.filter(**{names.get(name, name): value for name, value in given.items()})

    def _moment(self, name: str) -> datetime | None:
        try:
            return moment(self.cleaned_data[name], self.now)
        except BadMoment as error:
            raise forms.ValidationError(str(error)) from error


def reason_of(request: HttpRequest, longest: int = LONGEST_REASON) -> str:
    """Return the reason in the form, without NUL, which PostgreSQL does not store."""
    return request.POST.get("reason", "").replace("\x00", "").strip()[:longest]


class WholeField(forms.IntegerField):
    """A whole number of ASCII digits; Django's own field reads 1_0, too."""

    def to_python(self, value: Any) -> Any:
        if isinstance(value, str) and value.strip() and whole_number(value) is None:
            raise ValidationError(self.error_messages["invalid"], code="invalid")
        return super().to_python(value)


class NumberField(forms.FloatField):
    """A number of ASCII digits, with or without decimals."""

    def to_python(self, value: Any) -> Any:
        if isinstance(value, str) and value.strip() and number(value) is None:
            raise ValidationError(self.error_messages["invalid"], code="invalid")
        return super().to_python(value)


class SpanField(WholeField):
    """Milliseconds, typed as 500ms, 5m or 1h30m; a bare number is milliseconds."""

    widget = forms.TextInput

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


class SecondsField(WholeField):
    """Whole seconds, typed as 90s, 5m or 1h30m; a bare number is seconds."""

    widget = forms.TextInput

    def to_python(self, value: Any) -> Any:
        span_ms = milliseconds(value) if isinstance(value, str) else None
        if span_ms is not None and span_ms % 1000 == 0:
            return span_ms // 1000
        try:
            return super().to_python(value)
        except ValidationError as error:
            raise ValidationError(BAD_SECONDS.format(str(value)[:LONGEST])) from error

    def prepare_value(self, value: Any) -> Any:
        return written(value * 1000) if isinstance(value, int) else value


class TimesField(WholeField):
    """How many times; "forever" stands for -1."""

    widget = forms.TextInput

    def to_python(self, value: Any) -> Any:
        is_forever = isinstance(value, str) and value.strip().lower() == FOREVER
        return -1 if is_forever else super().to_python(value)

    def prepare_value(self, value: Any) -> Any:
        return FOREVER if value == -1 else value


class MomentField(forms.Field):
    """A moment in UTC unless it says otherwise, also as people say it: tomorrow 14:00."""

    def to_python(self, value: Any) -> Any:
        text = "" if value is None else str(value).strip()
        if not text:
            return None
        try:
            return absolute(text)
        except (ValueError, OverflowError):
            pass
        try:
            return moment_from(text[: 2 * LONGEST], UTC, database_now())
        except BadRule as error:
            raise ValidationError(BAD_MOMENT.format(text[:LONGEST])) from error

    def prepare_value(self, value: Any) -> Any:
        if not isinstance(value, datetime):
            return value
        return value.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="seconds")
