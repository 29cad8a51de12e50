"""The forms that make tokens and users, and the filter of the users."""

from typing import Any

from django import forms
from django.core.validators import MaxValueValidator
from django.db.models import Q, QuerySet

from atributo_site.console.base.forms import WholeField
from atributo_site.models import TokenScope
from atributo_site.permissions import ROLES
from atributo_site.web import tokens, users


class TokenForm(forms.Form):
    name = forms.CharField(max_length=tokens.LONGEST_NAME)
    level = forms.ChoiceField()
    source = forms.ChoiceField(choices=TokenScope.Source.choices, required=False)
    days = WholeField(min_value=1)

    def __init__(self, user: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["days"].validators.append(MaxValueValidator(tokens.most_days()))
        self.fields["level"].choices = [  # type: ignore[attr-defined]
            (level.value, level.value) for level in tokens.levels_of(user)
        ]

    def clean_source(self) -> str:
        return self.cleaned_data["source"] or TokenScope.Source.MANUAL


WHAT_ROLES_MAY = {
    "viewer": "viewer: can see everything except secrets",
    "operator": "operator: can also run jobs, drain instances and pause queues",
    "admin": "admin: can also install services, end other people's transactions and manage users",
    users.NO_ROLE: "no role: cannot open any screen",
}


class UserRole(forms.Form):
    """Superusers keep their role, which a form cannot give."""

    role = forms.ChoiceField(
        choices=[*WHAT_ROLES_MAY.items(), (users.SUPERUSER, "superuser")], initial="viewer"
    )
    email = forms.EmailField(required=False, max_length=254)


class UserForm(UserRole):
    username = forms.CharField(max_length=150, label="Name")
    role = forms.ChoiceField(choices=WHAT_ROLES_MAY.items(), initial="viewer")


class UserFilter(forms.Form):
    q = forms.CharField(required=False, max_length=150)
    role = forms.ChoiceField(required=False, choices=[(name, name) for name in ("", *ROLES)])
    state = forms.ChoiceField(
        required=False, choices=[("", "all"), ("active", "active"), ("disabled", "disabled")]
    )

    def filtered(self, rows: QuerySet) -> QuerySet:
        """Filter by what was chosen; what cannot be chosen finds nobody."""
        if not self.is_valid():
            return rows.none()
        text, role, state = (self.cleaned_data[name] for name in ("q", "role", "state"))
        if text:
            rows = rows.filter(Q(username__icontains=text) | Q(email__icontains=text))
        if role:
            rows = rows.filter(groups__name=role)
        return rows.filter(is_active=state == "active") if state else rows
