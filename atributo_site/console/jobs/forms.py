"""The forms of schedules: change one, filter the list of them."""

from typing import Any

from django import forms
from django.db.models import Q, TextField, Value
from django.db.models.functions import Concat

from atributo_site.console.base.forms import MomentField, SpanField, WholeField
from atributo_site.console.base.terminal import same_list
from queues.jobs.schedules import COLUMNS
from queues.logic.lifecycle import FOREVER
from queues.logic.options import CENTURY_MS, MOST_TIMES

SEEN = "seen-"
PAUSED = {"yes": "paused", "no": "not paused"}
# An expression keeps the database from using the index of all jobs of a script.
WHOLE_NAME = Concat("mount", Value("/"), "script", output_field=TextField())


class ScheduleForm(forms.Form):
    repeat_delay = SpanField(label="Every", min_value=0, max_value=CENTURY_MS)
    repeat_times = WholeField(label="Repeats", min_value=FOREVER, max_value=MOST_TIMES)
    repeat_until = MomentField(label="Until", required=False)

    def changes(self, seen: Any) -> dict[str, Any]:
        """Return what differs from what the page showed; others may have changed the rest."""
        return {
            name: self.cleaned_data[name]
            for name in COLUMNS
            if self.data.get(name, "").strip() != seen.get(f"{SEEN}{name}")
        }


class ScheduleFilter(forms.Form):
    queue = forms.CharField(required=False, max_length=255, strip=False)
    script = forms.CharField(required=False, max_length=384)
    paused = forms.ChoiceField(required=False, choices=[("", "any"), *PAUSED.items()])

    def of(self, jobs: Any) -> Any:
        """Return the jobs that match; none while the filter is wrong."""
        if not self.is_valid():
            return jobs.none()
        queue, script, paused = (self.cleaned_data[name] for name in ("queue", "script", "paused"))
        if queue:
            jobs = jobs.filter(queue__name=queue)
        if "/" in script:
            jobs = jobs.alias(whole_name=WHOLE_NAME).filter(whole_name=script)
        elif script:
            jobs = jobs.filter(script=script)
        return jobs.filter(Q(paused_at__isnull=paused == "no")) if paused else jobs

    def is_filled(self) -> bool:
        return any(self[name].value() for name in self.fields)

    def equivalents(self) -> dict[str, str]:
        """Return command and curl; only REST filters by script, too."""
        given = self.cleaned_data if self.is_valid() else {}
        queue, script = given.get("queue", ""), given.get("script", "")
        mount, _, name = script.rpartition("/")
        filters = {"repeating": "true", "queue": queue, "mount": mount, "script": name}
        command = "manage.py queued_jobs list --repeating"
        return same_list("/api/v1/jobs", filters, command, {"--queue": queue})
