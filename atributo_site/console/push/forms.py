"""The form that says where and how a job is pushed: the queue and the options."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.forms import BoundField

import queues
from atributo_site.console.base.forms import (
    PICKED,
    MomentField,
    SpanField,
    TimesField,
    WholeField,
)
from atributo_site.core.text import written
from queues import audited
from queues.logic.backoff import DEFAULT_MS
from queues.logic.options import CENTURY_MS, LONGEST_KEY, MOST_TIMES, PRIORITIES
from queues.models import Queue, QueuedJob

MOST_OFFERED = 200
FOREVER = -1
DEFAULT_QUEUE = "default"
COMMON = ("queue", "delay", "priority", "max_failures")
REPEAT = ("repeat_times", "repeat_delay", "repeat_until")
MORE = (
    *("delay_until", "expires_at", "timeout", "back_off", "strategy"),
    *("sticky_key", "concurrent", "unique_key", "debounce", "flow_key"),
)
DEFAULTS = {"queue": DEFAULT_QUEUE, "back_off": written(DEFAULT_MS)}  # the others: empty or 0
STRATEGIES = [("", "doubled each time"), ("foxx", "at random, as in Foxx")]
SAME_KEY = [("", "keep it and push nothing"), ("true", "replace its data and start time")]
ORDERS = [("", "one at a time, in order"), ("true", "at the same time")]
DUPLICATE = "Nothing was pushed. This unfinished job already has the unique key."
NO_KEY = "Enter the unique key of the job that is to be replaced."
TWICE = "Enter either Start in or Start at, not both."
SPAN = {"min_value": 0, "max_value": CENTURY_MS}
TIMES = {"min_value": FOREVER, "max_value": MOST_TIMES}
KEY = {"max_length": LONGEST_KEY, "strip": False}
A_MOMENT = "tomorrow 14:00"


def _typed(field: Any, label: str, placeholder: str, **options: Any) -> Any:
    """Make an optional field for text, of 40 characters unless its length is given."""
    attrs = {"placeholder": placeholder, "autocomplete": "off"}
    if field is MomentField:
        attrs |= PICKED
    if field is TimesField:
        attrs["list"] = "times"
    if "max_length" not in options:
        attrs["maxlength"] = "40"
    return field(label=label, required=False, widget=forms.TextInput(attrs), **options)


def _number(label: str, placeholder: str, **options: Any) -> WholeField:
    widget = forms.NumberInput({"placeholder": placeholder})
    return WholeField(label=label, required=False, widget=widget, **options)


class PushForm(forms.Form):
    """Options of a push; an empty field leaves the option to the script."""

    queue = forms.CharField(
        max_length=255,
        widget=forms.TextInput({"placeholder": "", "autocomplete": "off", "list": "queue-names"}),
    )
    delay = _typed(SpanField, "Start in", "now", **SPAN)
    priority = _number("Priority", "0", min_value=min(PRIORITIES), max_value=max(PRIORITIES))
    max_failures = _typed(TimesField, "Failures allowed", "default of the script", **TIMES)
    repeat_times = _typed(TimesField, "Repeat times", "0, a number or forever", **TIMES)
    repeat_delay = _typed(SpanField, "Repeat every", "1h30m", **SPAN)
    repeat_until = _typed(MomentField, "Repeat until", A_MOMENT, help_text="in UTC")
    delay_until = _typed(MomentField, "Start at", A_MOMENT, help_text="in UTC, or use Start in")
    expires_at = _typed(MomentField, "Expires", A_MOMENT, help_text="in UTC, if it has not started")
    timeout = _typed(SpanField, "Time limit", "default of the script", **{**SPAN, "min_value": 1})
    back_off = _typed(SpanField, "Retry delay", "default of the script", **SPAN)
    strategy = forms.ChoiceField(label="Further retries", required=False, choices=STRATEGIES)
    sticky_key = _typed(
        forms.CharField, "Key", "none", help_text="runs on the instance that has this key", **KEY
    )
    concurrent = forms.ChoiceField(label="Jobs of this key", required=False, choices=ORDERS)
    unique_key = _typed(
        forms.CharField, "Unique key", "none", help_text="one unfinished job at a time", **KEY
    )

    debounce = forms.ChoiceField(
        label="If a job with this unique key waits", required=False, choices=SAME_KEY
    )

    flow_key = _typed(
        forms.CharField, "Flow key", "none", help_text="limits and fair turns count by it", **KEY
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"auto_id": False, **kwargs})

    @classmethod
    def filled(cls, given: Mapping[str, Any]) -> "PushForm":
        """Fill the form from an address; without any field it is unbound and shows no errors."""
        typed = {name: given[name] for name in cls.base_fields if given.get(name)}
        initial = {"queue": DEFAULT_QUEUE}
        return cls({**initial, **typed}) if typed else cls(initial=initial)

    def clean(self) -> dict[str, Any]:
        given = self.cleaned_data
        if given.get("delay") is not None and given.get("delay_until") is not None:
            self.add_error("delay_until", TWICE)
        if given.get("debounce") and not given.get("unique_key"):
            self.add_error("debounce", NO_KEY)
        return given

    def options(self) -> dict[str, Any]:
        """Return the valid options as a push takes them."""
        self.is_valid()
        given = {
            name: value
            for name, value in getattr(self, "cleaned_data", {}).items()
            if value not in (None, "") and name != "queue"
        }
        for flag in ("concurrent", "debounce"):
            if flag in given:
                given[flag] = True
        if strategy := given.pop("strategy", None):
            given["back_off"] = {"strategy": strategy, "ms": given.get("back_off", DEFAULT_MS)}
        return given

    def given(self) -> dict[str, str]:
        """Return what was typed, for an address that fills in the form."""
        return {
            name: str(self[name].value()) for name in self.fields if self._is_filled(self[name])
        }

    @property
    def common(self) -> list[BoundField]:
        return [self[name] for name in COMMON]

    @property
    def repeat(self) -> list[BoundField]:
        return [self[name] for name in REPEAT]

    @property
    def more(self) -> list[BoundField]:
        return [self[name] for name in MORE]

    @property
    def opens(self) -> dict[str, bool]:
        """Say for each part whether it has a field that is filled in or wrong."""
        parts = {"common": self.common, "repeat": self.repeat, "more": self.more}
        return {
            part: any(field.errors or self._is_filled(field) for field in fields)
            for part, fields in parts.items()
        }

    def _is_filled(self, field: BoundField) -> bool:
        value = field.value()
        return value is not None and str(value) not in ("", "0", DEFAULTS.get(field.name))


def queue_names(most: int = MOST_OFFERED) -> list[str]:
    names = Queue.objects.existing().order_by("name").values_list("name", flat=True)
    return list(names[:most])


def push_job(form: PushForm, script: Mapping[str, str], data: Any, **more: Any) -> tuple[str, bool]:
    """Push and return the job's id, and whether the job is new."""
    queue, duplicate = queues.get(form.cleaned_data["queue"]), duplicate_of(form)
    job_id = audited.push(queue.name, dict(script), data, {**more, **form.options()})
    return job_id, job_id != duplicate


def duplicate_of(push: PushForm) -> str | None:
    """Return the unfinished job with the unique key, which a push leads to instead of a new one."""
    key = push.cleaned_data["unique_key"]
    if not key or push.cleaned_data.get("debounce"):
        return None
    jobs = QueuedJob.objects.unfinished().filter(
        queue__name=push.cleaned_data["queue"], unique_key=key
    )
    pk = jobs.values_list("pk", flat=True).first()
    return None if pk is None else str(pk)
