"""The forms of the transactions and documents screens."""

from django import forms

from allocation.transactions.documents.listing import MOST_SKIPPED
from allocation.transactions.models.transaction import FINISHED
from atributo_site.console.base.forms import PeriodForm, WholeField


class HistoryFilter(PeriodForm):
    """Filter finished transactions by status and end, such as 2h."""

    period_field = "finished_at"

    status = forms.ChoiceField(
        required=False, choices=[("", "any"), *((word, word) for word in FINISHED)]
    )


class SearchForm(forms.Form):
    q = forms.CharField(required=False, max_length=4000)
    sort = forms.CharField(required=False, max_length=255)
    offset = WholeField(required=False, min_value=0, max_value=MOST_SKIPPED)
