"""The forms of the pools screens."""

from typing import Any

from django import forms

from atributo_site.console.base.forms import PeriodForm, StrictJSONField
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
    nameservers = ServersField(
        required=False,
        max_length=MOST_NAMESERVERS * 60,
        help_text="Addresses, separated by commas, or one name; those of this site unless given.",
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
        field_classes = {"recovery": StrictJSONField}
        widgets = {"recovery": forms.Textarea(attrs={"rows": 3})}
        labels = {
            "service": "SRV label",
            "default_port": "Port without SRV",
            "ttl_floor_ms": "Least time between look-ups, ms",
            "ttl_ceiling_ms": "Longest time an answer is believed, ms",
            "removal_share": "Share that must be confirmed",
            "grace_seconds": "Grace, seconds",
        }
        help_texts = {
            "name": "How people and programs call it here; it stays.",
            "domain": "The name that is looked up, for example svc.example.",
            "removal_share": "When so many vanish at once (0 to 1), a second look-up decides.",
            "grace_seconds": "An instance without job ids is removed so long after it left DNS.",
            "recovery": "Time-outs and retries of look-ups, as JSON.",
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
    port = forms.IntegerField(
        label="Port without SRV", min_value=1, max_value=65535, required=False
    )
    nameservers = ServersField(required=False, validators=[nameserver_list])
    timeout_ms = forms.IntegerField(
        label="Time for each step, ms", min_value=10, max_value=LONGEST_MS, required=False
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
