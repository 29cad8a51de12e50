"""What people do to the ticked rows of a raw list: the operations that every other door uses."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from django import forms
from django.contrib import messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.core.exceptions import PermissionDenied
from django.core.validators import MaxLengthValidator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from atributo_site.core.errors import AtributoError
from atributo_site.core.text import pluralize, whole_number
from atributo_site.permissions import may

LONGEST_REASON = 2000


class WholeNumber(forms.IntegerField):
    """A whole number of ASCII digits, as everywhere; Django's own field reads 1_0, too."""

    def to_python(self, value: Any) -> Any:
        if isinstance(value, str) and value.strip() and whole_number(value) is None:
            raise forms.ValidationError(self.error_messages["invalid"], code="invalid")
        return super().to_python(value)


class WithReason(forms.Form):
    reason = forms.CharField(required=False, max_length=255)


class NeedsReason(forms.Form):
    reason = forms.CharField(validators=[MaxLengthValidator(LONGEST_REASON)])


@dataclass(frozen=True)
class RowAction:
    """`act` changes one row by its operation, which checks it, and leaves the event.

    It returns False where there was nothing to do. With `asks`, or with fields to fill in, a page
    says first what happens.
    """

    name: str
    label: str
    action: str  # an entry of the table of permissions
    act: Callable[..., Any]  # with the row and what the form says
    asks: str = ""
    form: type[forms.Form] = forms.Form
    is_danger: bool = False
    do_not_call_in_templates: ClassVar[bool] = True

    def __call__(self, raw_list: Any, request: HttpRequest, rows: Any) -> HttpResponse | None:
        """Do what Django asks of an action: return a page, or None to go back to the list."""
        if not may(request.user, self.action):
            raise PermissionDenied
        chosen = list(rows[: raw_list.list_per_page])
        is_confirmed = "confirmed" in request.POST
        form = self.form(request.POST if is_confirmed else None)
        if (self.asks or form.fields) and not (is_confirmed and form.is_valid()):
            return self._page(raw_list, request, chosen, form)
        given = form.cleaned_data if form.is_bound else {}
        self._tell(raw_list, request, [(row, self._one(row, given)) for row in chosen])
        return None

    def _page(self, raw_list: Any, request: Any, rows: list[Any], form: Any) -> HttpResponse:
        context = {
            **raw_list.admin_site.each_context(request),
            "title": f"{self.label} {pluralize(len(rows), self._noun(raw_list))}",
            "opts": raw_list.opts,
            "row_action": self,
            "rows": rows,
            "form": form,
            "box": ACTION_CHECKBOX_NAME,
        }
        status = 400 if form.is_bound else 200
        return render(request, "admin/row_action.html", context, status=status)

    def _one(self, row: Any, given: dict[str, Any]) -> str | None:
        """Return why nothing was changed, or None."""
        try:
            return None if self.act(row, **given) is not False else "nothing to do"
        except AtributoError as error:
            return str(error)

    def _tell(self, raw_list: Any, request: Any, ends: list[tuple[Any, str | None]]) -> None:
        done = sum(why is None for _, why in ends)
        if done:
            words = f"{self.label}: done for {pluralize(done, self._noun(raw_list))}."
            messages.success(request, words)
        for row, why in ends:
            if why is not None:
                messages.warning(request, f"{row}: {why}")

    def _noun(self, raw_list: Any) -> str:
        return str(raw_list.opts.verbose_name)
