"""The form that installs a service."""

from django import forms


class InstallForm(forms.Form):
    folder = forms.CharField(max_length=1024)
    mount = forms.CharField(max_length=255)
    development = forms.BooleanField(required=False)
