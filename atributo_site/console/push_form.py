"""Where and how a job is pushed: the queue and the options that people change."""

from typing import Any

from django import forms

from queues.logic.options import CENTURY_MS, MOST_TIMES, PRIORITIES
from queues.models import Queue

MOST_OFFERED = 200
FOREVER = -1


class PushForm(forms.Form):
    """Empty fields leave an option to the script."""

    queue = forms.CharField(max_length=255)
    delay = forms.IntegerField(required=False, min_value=0, max_value=CENTURY_MS)
    max_failures = forms.IntegerField(required=False, min_value=FOREVER, max_value=MOST_TIMES)
    repeat_times = forms.IntegerField(required=False, min_value=FOREVER, max_value=MOST_TIMES)
    repeat_delay = forms.IntegerField(required=False, min_value=0, max_value=CENTURY_MS)
    priority = forms.IntegerField(
        required=False, min_value=min(PRIORITIES), max_value=max(PRIORITIES)
    )

    def options(self) -> dict[str, Any]:
        given = {name: value for name, value in self.cleaned_data.items() if name != "queue"}
        return {name: value for name, value in given.items() if value is not None}


def queue_names() -> list[str]:
    names = Queue.objects.existing().order_by("name").values_list("name", flat=True)
    return list(names[:MOST_OFFERED])
