"""The form of a schedule: rules and times as people write them."""

from datetime import datetime
from typing import Any

from django import forms

from atributo_site.console.base.forms import PICKED, SpanField, StrictJSONField, WholeField
from queues.errors import DataRefused
from queues.logic.options import CENTURY_MS
from queues.logic.schedules.errors import BadRule
from queues.logic.schedules.policies import OVERLAP_SAID
from queues.logic.schedules.rule import read
from queues.logic.schedules.spoken import moment_from, rule_from, rule_written
from queues.logic.schedules.words import rule_said
from queues.logic.schedules.zones import zone_named, zone_names
from queues.models import Schedule, Script
from queues.schema.validation import empty_value

MOST_SCRIPTS = 500
FOREVER = "forever"
ENDS = [(FOREVER, "forever"), ("until", "until a time"), ("runs", "after a number of runs")]
OVERLAPS = [(policy.value, said) for policy, said in OVERLAP_SAID.items()]
COMMON = ("name", "script", "when", "zone", "starts", "ends", "until", "most_runs", "queue", "data")
MORE = ("overlap", "catch_up", "grace", "jitter", "pause_after_failures")
SPAN: dict[str, Any] = {"min_value": 0, "max_value": CENTURY_MS, "required": False}


def _text(label: str, placeholder: str = "", help_text: str = "", **options: Any) -> Any:
    attrs = {"placeholder": placeholder, "autocomplete": "off", **options.pop("attrs", {})}
    widget = forms.TextInput(attrs)
    return forms.CharField(label=label, help_text=help_text, widget=widget, **options)


def _moment(label: str, placeholder: str, help_text: str) -> Any:
    return _text(label, placeholder, help_text, required=False, max_length=40, attrs=PICKED)


def _span(label: str, placeholder: str, help_text: str) -> SpanField:
    widget = forms.TextInput({"placeholder": placeholder, "autocomplete": "off", "maxlength": 40})
    return SpanField(label=label, help_text=help_text, widget=widget, **SPAN)


def _number(label: str, help_text: str) -> WholeField:
    widget = forms.NumberInput({"min": 1})
    options: dict[str, Any] = {"min_value": 1, "max_value": 2**31 - 1, "required": False}
    return WholeField(label=label, help_text=help_text, widget=widget, **options)


class DataField(StrictJSONField):
    """JSON, shown as nothing where there is none."""

    def prepare_value(self, value: Any) -> Any:
        return "" if value is None else super().prepare_value(value)


class CalendarForm(forms.Form):
    """What is left empty has its default."""

    name = _text("Name", "nightly-report", max_length=128)
    script = forms.ChoiceField(label="Script")
    when = _text(
        "When",
        "every day at 09:00",
        "every 90 minutes · mon, fri at 9:00, 17:30 · last day at 18:00 · 0 9 * * mon-fri",
        max_length=4000,
    )
    zone = _text("Time zone", "UTC", max_length=64, attrs={"list": "zone-names"})
    starts = _moment("First run after", "now", "such as tomorrow 14:00 or in 5 minutes")
    ends = forms.ChoiceField(label="Runs", choices=ENDS)
    until = _moment("Until", "2030-01-31 12:00", "if it ends at a time")
    most_runs = _number("Number of runs", "if it ends after a number of runs")
    queue = _text("Queue", "default", max_length=255, attrs={"list": "queue-names"})
    data = DataField(  # type: ignore[assignment]
        label="Data", help_text="JSON", required=False, widget=forms.Textarea({"rows": 3})
    )
    overlap = forms.ChoiceField(label="If the earlier run is unfinished", choices=OVERLAPS)
    catch_up = _span("Catch up after an outage", "1h", "runs that are later than this are missed")
    grace = _span("A run must start within", "1m", "otherwise there is an incident")
    jitter = _span("Spread runs over", "0", "each run starts up to this much later")
    pause_after_failures = _number("Pause after failures", "in a row; leave empty to never pause")

    def __init__(self, *args: Any, now: datetime, **kwargs: Any) -> None:
        super().__init__(*args, **{"auto_id": False, **kwargs})
        self.now = now
        scripts = Script.objects.order_by("service__mount", "name")
        names = scripts.values_list("service__mount", "name", "title")[:MOST_SCRIPTS]
        choices = [(f"{mount}/{name}", f"{mount}/{name}: {title}") for mount, name, title in names]
        given = self.initial.get("script")
        if given and given not in dict(choices):
            choices.append((given, f"{given} (not installed)"))
        self.fields["script"].choices = choices  # type: ignore[attr-defined]

    @classmethod
    def of(cls, schedule: Schedule, now: datetime) -> "CalendarForm":
        """Fill the form with what a schedule has."""
        zone = schedule.zone
        initial = {
            "name": schedule.name,
            "script": f"{schedule.mount}/{schedule.script}",
            "when": rule_written(schedule.rule, rule_said(schedule.rule)),
            "zone": zone,
            "starts": _local(schedule.starts_at, zone),
            "until": _local(schedule.ends_at, zone),
            "ends": "until" if schedule.ends_at else "runs" if schedule.most_runs else FOREVER,
            "most_runs": schedule.most_runs,
            "queue": schedule.queue.name,
            "data": schedule.data,
            "overlap": schedule.overlap,
            "catch_up": schedule.catch_up_ms,
            "grace": schedule.grace_ms,
            "jitter": schedule.jitter_ms,
            "pause_after_failures": schedule.pause_after_failures,
        }
        form = cls(initial=initial, now=now)
        form.fields["name"].disabled = True
        return form

    def clean(self) -> dict[str, Any]:
        given = self.cleaned_data
        if given.get("data") is None and "data" not in self.errors:
            given["data"] = self._empty_data(given.get("script", ""))
        self._read("when", rule_from)
        try:
            zone = zone_named(given.get("zone", ""))
        except BadRule as error:
            self.add_error("zone", _sentence(error))
            return given
        self._read("when", lambda rule: _checked(rule, given["zone"], self.now))
        for name in ("starts", "until"):
            self._read(name, lambda text: moment_from(text, zone, self.now))
        if given.get("ends") == "until" and not given.get("until") and "until" not in self.errors:
            self.add_error("until", "Enter an end time, or choose forever.")
        if given.get("ends") == "runs" and not given.get("most_runs"):
            self.add_error("most_runs", "Enter a number of runs, or choose forever.")
        return given

    def _empty_data(self, script: str) -> Any:
        mount, _, name = script.rpartition("/")
        schemas = Script.objects.filter(service__mount=mount, name=name)
        return empty_value(schemas.values_list("schema", flat=True).first())

    def refuse_data(self, error: DataRefused) -> None:
        said = str(error)
        self.add_error("data", f"{said[:1].upper()}{said[1:]}.")

    def _read(self, name: str, read: Any) -> None:
        text = self.cleaned_data.get(name)
        if not text:
            self.cleaned_data[name] = None
            return
        try:
            self.cleaned_data[name] = read(text)
        except BadRule as error:
            self.add_error(name, _sentence(error))

    def given(self) -> dict[str, Any]:
        """Return the valid fields as a schedule takes them."""
        form = self.cleaned_data
        mount, _, script = form["script"].rpartition("/")
        given = {
            "script": {"mount": mount, "name": script},
            "data": form["data"],
            "queue": form["queue"],
            "rule": form["when"],
            "zone": form["zone"],
            "starts_at": form["starts"],
            "ends_at": form["until"] if form["ends"] == "until" else None,
            "most_runs": form["most_runs"] if form["ends"] == "runs" else None,
            "overlap": form["overlap"],
            "pause_after_failures": form["pause_after_failures"],
        }
        spans = {name: form[name] for name in ("catch_up", "grace", "jitter")}
        return given | {name: value for name, value in spans.items() if value is not None}

    @property
    def common(self) -> list[Any]:
        return [self[name] for name in COMMON]

    @property
    def more(self) -> list[Any]:
        return [self[name] for name in MORE]

    @property
    def is_more_open(self) -> bool:
        return any(self[name].errors for name in MORE)


def all_zones() -> list[str]:
    return sorted(zone_names())


def _local(at: datetime | None, zone: str) -> str:
    """Write a moment on the wall of the zone, as the form reads it back."""
    if at is None:
        return ""
    try:
        return at.astimezone(zone_named(zone)).isoformat(" ", timespec="minutes")[:16]
    except BadRule:
        return at.isoformat()


def _checked(rule: dict[str, Any], zone: str, now: datetime) -> dict[str, Any]:
    """Return the rule if it can be read; whether it ever fires depends on the other fields."""
    read(rule, zone, anchor=now)
    return rule


def _sentence(error: Exception) -> str:
    text = str(error)
    return f"{text[:1].upper()}{text[1:]}."
