"""The forms of the pools screens."""

from typing import Any

from django import forms

from atributo_site.console.base.forms import (
    NumberField,
    PeriodForm,
    SecondsField,
    SpanField,
    StrictJSONField,
    WholeField,
)
from pools.lookup_tool import DEFAULT_TIMEOUT_MS, LONGEST_MS
from pools.models import Backend, BackendChange, Pool
from pools.models.fields import MOST_NAMESERVERS, nameserver_list

KINDS = [("", "any"), *BackendChange.Kind.choices]


class ServersField(forms.CharField):
    """Addresses with or without ports, separated by commas."""

    def to_python(self, value: Any) -> Any:
        if isinstance(value, list):
            return value
        text = super().to_python(value) or ""
        return [part.strip() for part in text.split(",") if part.strip()]

    def prepare_value(self, value: Any) -> Any:
        return ", ".join(value) if isinstance(value, list) else value


class PoolForm(forms.ModelForm):
    """Two fields are needed; all others have a default and are folded."""

    FIRST = ("name", "domain")

    @property
    def first_fields(self) -> list[forms.BoundField]:
        return [field for field in self if field.name in self.FIRST]

    @property
    def more_fields(self) -> list[forms.BoundField]:
        return [field for field in self if field.name not in self.FIRST]

    @property
    def has_errors_in_more(self) -> bool:
        return any(field.errors for field in self.more_fields)

    nameservers = ServersField(
        required=False,
        max_length=MOST_NAMESERVERS * 60,
        help_text="Addresses separated by commas, or one name. Empty uses the site defaults.",
    )

    class Meta:
        model = Pool
        fields = [
            "name",
            "domain",
            "service",
            "default_port",
            "nameservers",
            "ttl_floor_ms",
            "ttl_ceiling_ms",
            "removal_share",
            "grace_seconds",
            "recovery",
        ]
        field_classes = {
            "recovery": StrictJSONField,
            "removal_share": NumberField,
            "default_port": WholeField,
            "ttl_floor_ms": SpanField,
            "ttl_ceiling_ms": SpanField,
            "grace_seconds": SecondsField,
        }
        widgets = {"recovery": forms.Textarea(attrs={"rows": 3})}
        labels = {
            "service": "SRV label",
            "default_port": "Port without SRV",
            "ttl_floor_ms": "Shortest time between lookups",
            "ttl_ceiling_ms": "Longest time an answer is used",
            "removal_share": "Share that must be confirmed",
            "grace_seconds": "Grace",
        }
        help_texts = {
            "name": "The name used on this site. It cannot be changed later.",
            "domain": "The DNS name to look up, for example svc.example.",
            "removal_share": "If this share (0 to 1) disappears at once, a second lookup decides.",
            "ttl_floor_ms": "Such as 10s.",
            "ttl_ceiling_ms": "Such as 5m.",
            "grace_seconds": "How long after leaving DNS an instance without keys is removed.",
            "recovery": "Timeouts and retries of lookups, as JSON.",
        }


class ChangePoolForm(PoolForm):
    """All fields but the name, which events, links and other programs know."""

    class Meta(PoolForm.Meta):
        fields = [field for field in PoolForm.Meta.fields if field != "name"]


class AdministerForm(forms.Form):
    administrative = forms.ChoiceField(choices=Backend.Administrative.choices)
    reason = forms.CharField(required=False, max_length=255)


class LookUpForm(forms.Form):
    host = forms.CharField(label="Name or address", max_length=300)
    service = forms.CharField(label="SRV label", max_length=100, required=False)
    port = WholeField(label="Port without SRV", min_value=1, max_value=65535, required=False)
    nameservers = ServersField(required=False, validators=[nameserver_list])
    timeout_ms = SpanField(
        label="Time limit per step", min_value=10, max_value=LONGEST_MS, required=False
    )

    def options(self) -> dict[str, Any]:
        given = {key: value for key, value in self.cleaned_data.items() if value}
        return {"timeout_ms": DEFAULT_TIMEOUT_MS, **given}


class TimelineFilter(PeriodForm):
    """Filter changes by name, kind and time, such as 2h."""

    period_field = "at"

    pool__name = forms.CharField(required=False, max_length=100, label="Name")
    kind = forms.ChoiceField(required=False, choices=KINDS, label="What")

    def add_prefix(self, field_name: str) -> str:
        """Call the name `pool` in the address."""
        return "pool" if field_name == "pool__name" else super().add_prefix(field_name)

    @property
    def name(self) -> str:
        return self.cleaned_data.get("pool__name", "")
