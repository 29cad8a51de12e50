"""A form that asks for a time between two moments, beside the fields of its subclass."""

from datetime import datetime
from typing import Any, ClassVar

from django import forms
from django.db.models import QuerySet

from atributo_site.console.moments import BadMoment, moment


class PeriodForm(forms.Form):
    """«since» and «until» compare `period_field`; the other fields filter by their names."""

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
